//! The operator's own metric families, and the one place where every crate's families are registered.

use board::metrics::{FamilyRow, FamilySpec, RegisterError, Registrar};
use board::{DirectoryReader, DirectoryWriter};

use crate::build_info;
use crate::servers::{Check, Readiness};

/// The first part of the name of every family.
pub const PREFIX: &str = "gitopsreverser";

const BUILD_INFO: FamilySpec<2> = FamilySpec {
    name: "build_info",
    labels: ["version", "commit"],
    meaning: "Always 1; the labels say which build runs.",
    act: "Never; join it to other series to see which build they come from.",
};

const READY: FamilySpec<1> = FamilySpec {
    name: "readiness_check",
    labels: ["check"],
    meaning: "1 while the readiness check is met, else 0.",
    act: "A check stays 0 for minutes: the extension API has no endpoint, and namespaces cannot be deleted.",
};

/// The families of every crate while parts are still being added.
pub struct Metrics {
    /// Takes what the remaining parts count.
    pub registrar: Registrar,
    /// What branch writers count.
    pub branch: branch::metrics::Metrics,
    /// What sources count.
    pub source: source::Metrics,
}

impl Metrics {
    /// Registers the families of every crate but the reconcilers, which bring their own.
    ///
    /// # Errors
    /// Returns the family whose name is taken or not legal, which is a fault of the program.
    pub fn register(
        readiness: &Readiness,
        directory: &DirectoryReader,
    ) -> Result<Self, RegisterError> {
        let mut registrar = Registrar::new(PREFIX);
        own(&mut registrar, readiness.clone())?;
        let branch = branch::metrics::Metrics::register(&mut registrar, directory)?;
        let source = source::Metrics::register(&mut registrar, directory)?;
        Ok(Self {
            registrar,
            branch,
            source,
        })
    }

    /// Registers every family without anything to read, for the reference.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub fn describe() -> Result<Vec<FamilyRow>, RegisterError> {
        let mut metrics =
            Self::register(&Readiness::without_api(), &DirectoryWriter::new().reader())?;
        reconcilers::describe_metrics(&mut metrics.registrar)?;
        Ok(metrics.registrar.finish().1)
    }
}

fn own(registrar: &mut Registrar, readiness: Readiness) -> Result<(), RegisterError> {
    let build = registrar.gauge(BUILD_INFO)?;
    build.with([build_info::VERSION, build_info::COMMIT]).set(1);
    registrar.observe(READY, move |observations| {
        for check in Check::ALL {
            let met = if readiness.is_met(check) { 1.0 } else { 0.0 };
            observations.add([check.name()], met);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_says_what_it_means_and_when_to_act() {
        let rows = Metrics::describe().unwrap();
        assert!(rows.len() > 20, "{}", rows.len());
        for row in &rows {
            assert!(row.name.starts_with("gitopsreverser_"), "{row:?}");
            for text in [row.meaning, row.act] {
                assert!(text.ends_with('.') && text.len() > 10, "{row:?}");
            }
        }
    }

    #[test]
    fn readiness_is_read_at_the_scrape() {
        let readiness = Readiness::waiting_for_api();
        let metrics = Metrics::register(&readiness, &DirectoryWriter::new().reader()).unwrap();
        let (registry, _) = metrics.registrar.finish();
        let text = || {
            prometheus::TextEncoder::new()
                .encode_to_string(&registry.gather())
                .unwrap()
        };
        assert!(text().contains("gitopsreverser_readiness_check{check=\"discovery\"} 0"));
        readiness.meet(Check::Discovery);
        assert!(text().contains("gitopsreverser_readiness_check{check=\"discovery\"} 1"));
    }
}
