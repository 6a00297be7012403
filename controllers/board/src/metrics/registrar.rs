//! Registers families and remembers what they mean.

use prometheus::core::{Collector, Desc};
use prometheus::proto::{Gauge, Metric as Sample, MetricFamily, MetricType};
use prometheus::{Histogram, IntCounter, IntGauge, Registry};

use super::family::{
    Family, FamilyKind, FamilySpec, MAX_SERIES, OVERFLOW_LABEL, family_of, labelled,
};

/// A family that could not be registered: its name is taken, or is no legal name.
#[derive(Debug, thiserror::Error)]
#[error("the metric family {name} cannot be registered")]
pub struct RegisterError {
    /// The name of the family.
    pub name: &'static str,
    #[source]
    source: prometheus::Error,
}

/// What the reference says about one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyRow {
    /// The full name, with the prefix.
    pub name: String,
    /// `counter`, `gauge` or `histogram`.
    pub kind: &'static str,
    /// The labels.
    pub labels: Vec<&'static str>,
    /// What it counts or shows.
    pub meaning: &'static str,
    /// When a person should act on it.
    pub act: &'static str,
}

/// Takes the families of every crate while the program starts.
#[derive(Debug)]
pub struct Registrar {
    prefix: &'static str,
    registry: Registry,
    rows: Vec<FamilyRow>,
}

impl Registrar {
    /// Starts an empty registry whose families all get the prefix.
    pub fn new(prefix: &'static str) -> Self {
        let registry = Registry::new_custom(Some(prefix.to_owned()), None)
            .expect("because the prefix is not empty");
        Self {
            prefix,
            registry,
            rows: Vec::new(),
        }
    }

    /// Adds a family of counters.
    ///
    /// # Errors
    /// Returns the name when it is taken or not legal.
    pub fn counter<const N: usize>(
        &mut self,
        spec: FamilySpec<N>,
    ) -> Result<Family<IntCounter, N>, RegisterError> {
        self.family(spec, (), "counter")
    }

    /// Adds a family of gauges that are set at the step they describe.
    ///
    /// # Errors
    /// Returns the name when it is taken or not legal.
    pub fn gauge<const N: usize>(
        &mut self,
        spec: FamilySpec<N>,
    ) -> Result<Family<IntGauge, N>, RegisterError> {
        self.family(spec, (), "gauge")
    }

    /// Adds a family of histograms.
    ///
    /// # Errors
    /// Returns the name when it is taken or not legal.
    pub fn histogram<const N: usize>(
        &mut self,
        spec: FamilySpec<N>,
        buckets: &'static [f64],
    ) -> Result<Family<Histogram, N>, RegisterError> {
        self.family(spec, buckets, "histogram")
    }

    /// Adds a family of gauges whose values are read at the moment of a scrape.
    ///
    /// # Errors
    /// Returns the name when it is taken or not legal.
    pub fn observe<const N: usize>(
        &mut self,
        spec: FamilySpec<N>,
        read: impl Fn(&mut Observations<N>) + Send + Sync + 'static,
    ) -> Result<(), RegisterError> {
        let labels = spec.labels.map(str::to_owned).to_vec();
        let desc = Desc::new(
            spec.name.to_owned(),
            spec.meaning.to_owned(),
            labels,
            Default::default(),
        )
        .map_err(|source| RegisterError {
            name: spec.name,
            source,
        })?;
        self.register(&spec, "gauge", Box::new(Observed { spec, desc, read }))
    }

    /// Ends the registration: the registry to read from, and the rows of the reference by name.
    pub fn finish(mut self) -> (Registry, Vec<FamilyRow>) {
        self.rows.sort_by(|one, other| one.name.cmp(&other.name));
        (self.registry, self.rows)
    }

    fn family<M: FamilyKind, const N: usize>(
        &mut self,
        spec: FamilySpec<N>,
        shape: M::Shape,
        kind: &'static str,
    ) -> Result<Family<M, N>, RegisterError> {
        let family = Family::new(spec, shape, MAX_SERIES).map_err(|source| RegisterError {
            name: spec.name,
            source,
        })?;
        self.register(&spec, kind, Box::new(family.clone()))?;
        Ok(family)
    }

    fn register<const N: usize>(
        &mut self,
        spec: &FamilySpec<N>,
        kind: &'static str,
        collector: Box<dyn Collector>,
    ) -> Result<(), RegisterError> {
        self.registry
            .register(collector)
            .map_err(|source| RegisterError {
                name: spec.name,
                source,
            })?;
        self.rows.push(FamilyRow {
            name: format!("{}_{}", self.prefix, spec.name),
            kind,
            labels: spec.labels.to_vec(),
            meaning: spec.meaning,
            act: spec.act,
        });
        Ok(())
    }
}

/// The values of one family at the moment of a scrape.
#[derive(Debug)]
pub struct Observations<const N: usize> {
    labels: [&'static str; N],
    samples: Vec<Sample>,
    left_out: u32,
}

impl<const N: usize> Observations<N> {
    /// Adds one value. Beyond the cap values are only counted, because a sum of gauges means nothing.
    pub fn add(&mut self, values: [&str; N], value: f64) {
        if self.samples.len() >= MAX_SERIES {
            self.left_out += 1;
            return;
        }
        self.samples
            .push(labelled(gauge(value), self.labels.into_iter().zip(values)));
    }

    fn into_samples(mut self) -> Vec<Sample> {
        if self.left_out > 0 {
            let label = std::iter::once((OVERFLOW_LABEL, "true"));
            self.samples
                .push(labelled(gauge(f64::from(self.left_out)), label));
        }
        self.samples
    }
}

fn gauge(value: f64) -> Sample {
    let mut gauge = Gauge::default();
    gauge.set_value(value);
    Sample::from_gauge(gauge)
}

struct Observed<F, const N: usize> {
    spec: FamilySpec<N>,
    desc: Desc,
    read: F,
}

impl<F, const N: usize> Collector for Observed<F, N>
where
    F: Fn(&mut Observations<N>) + Send + Sync,
{
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.desc]
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let mut observations = Observations {
            labels: self.spec.labels,
            samples: Vec::new(),
            left_out: 0,
        };
        (self.read)(&mut observations);
        let samples = observations.into_samples();
        vec![family_of(
            self.spec.name,
            self.spec.meaning,
            MetricType::GAUGE,
            samples,
        )]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn spec<const N: usize>(name: &'static str, labels: [&'static str; N]) -> FamilySpec<N> {
        FamilySpec {
            name,
            labels,
            meaning: "what it means",
            act: "when it grows",
        }
    }

    fn text(registry: &Registry) -> String {
        prometheus::TextEncoder::new()
            .encode_to_string(&registry.gather())
            .unwrap()
    }

    #[test]
    fn every_family_gets_the_prefix_and_a_row() {
        let mut registrar = Registrar::new("product");
        let pushes = registrar.counter(spec("pushes_total", ["branch"])).unwrap();
        let seconds = registrar
            .histogram(spec("push_seconds", []), &[0.1, 1.0])
            .unwrap();
        let types = registrar.gauge(spec("types", ["state"])).unwrap();
        pushes.with(["main"]).inc();
        seconds.with([]).observe(0.5);
        types.with(["known"]).set(3);
        let (registry, rows) = registrar.finish();
        let text = text(&registry);
        for line in [
            "# HELP product_pushes_total what it means",
            "# TYPE product_pushes_total counter",
            "product_pushes_total{branch=\"main\"} 1",
            "product_push_seconds_bucket{le=\"1\"} 1",
            "product_types{state=\"known\"} 3",
        ] {
            assert!(
                text.lines().any(|found| found == line),
                "{line} is missing in\n{text}"
            );
        }
        let names: Vec<_> = rows
            .iter()
            .map(|row| (row.name.as_str(), row.kind))
            .collect();
        let expected = [
            ("product_push_seconds", "histogram"),
            ("product_pushes_total", "counter"),
            ("product_types", "gauge"),
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn an_observed_gauge_is_read_at_each_scrape() {
        let depth = Arc::new(AtomicU32::new(1));
        let read = Arc::clone(&depth);
        let mut registrar = Registrar::new("product");
        registrar
            .observe(spec("queue_depth", ["branch"]), move |observations| {
                observations.add(["main"], f64::from(read.load(Ordering::Relaxed)));
            })
            .unwrap();
        let (registry, _) = registrar.finish();
        assert!(text(&registry).contains("product_queue_depth{branch=\"main\"} 1"));
        depth.store(7, Ordering::Relaxed);
        assert!(text(&registry).contains("product_queue_depth{branch=\"main\"} 7"));
    }

    #[test]
    fn observed_gauges_beyond_the_cap_are_counted_in_one_series() {
        let mut registrar = Registrar::new("product");
        registrar
            .observe(spec("branches", ["name"]), |observations| {
                for number in 0..MAX_SERIES + 3 {
                    observations.add([&number.to_string()], 1.0);
                }
            })
            .unwrap();
        let (registry, _) = registrar.finish();
        let text = text(&registry);
        assert_eq!(
            text.lines().filter(|line| line.contains("{name=")).count(),
            MAX_SERIES
        );
        assert!(text.contains("product_branches{otel_metric_overflow=\"true\"} 3"));
    }

    #[test]
    fn a_name_is_taken_once_and_must_be_legal() {
        let mut registrar = Registrar::new("product");
        registrar.counter(spec("a_total", [])).unwrap();
        assert!(registrar.counter(spec("a_total", [])).is_err());
        assert!(registrar.counter(spec("not legal", [])).is_err());
        assert_eq!(registrar.finish().1.len(), 1);
    }
}
