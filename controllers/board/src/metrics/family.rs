//! One metric family with a cap on its series.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus::core::{Collector, Desc, Metric};
use prometheus::proto::{LabelPair, Metric as Sample, MetricFamily, MetricType};
use prometheus::{Histogram, HistogramOpts, IntCounter, IntGauge, Opts};

/// Most series that one family holds. The next ones share the overflow series.
pub const MAX_SERIES: usize = 15_000;

/// The label, with the value `true`, of the series that takes everything beyond the cap.
pub const OVERFLOW_LABEL: &str = "otel_metric_overflow";

/// What a family is and when to look at it. The number of labels is part of the type, so a series cannot
/// be asked for with one label too few.
#[derive(Debug, Clone, Copy)]
pub struct FamilySpec<const N: usize> {
    /// The name without the prefix of the product.
    pub name: &'static str,
    /// The labels, in the order in which their values are given.
    pub labels: [&'static str; N],
    /// What it counts or shows.
    pub meaning: &'static str,
    /// When a person should act on it.
    pub act: &'static str,
}

/// A kind of metric that a family can be made of.
pub trait FamilyKind: Metric + Sized + 'static {
    /// What a kind needs to know beside the name: the buckets of a histogram, otherwise nothing.
    type Shape: Clone + Send + Sync + 'static;

    /// The type in the exposition.
    const TYPE: MetricType;

    /// Makes one series without labels; the family adds them when it is read.
    ///
    /// # Errors
    /// Returns what is wrong with the name or the shape.
    fn build(name: &str, meaning: &str, shape: &Self::Shape) -> prometheus::Result<Self>;
}

impl FamilyKind for IntCounter {
    type Shape = ();
    const TYPE: MetricType = MetricType::COUNTER;
    fn build(name: &str, meaning: &str, (): &()) -> prometheus::Result<Self> {
        Self::with_opts(Opts::new(name, meaning))
    }
}

impl FamilyKind for IntGauge {
    type Shape = ();
    const TYPE: MetricType = MetricType::GAUGE;
    fn build(name: &str, meaning: &str, (): &()) -> prometheus::Result<Self> {
        Self::with_opts(Opts::new(name, meaning))
    }
}

impl FamilyKind for Histogram {
    /// The upper bounds of the buckets, in seconds where the family is about time.
    type Shape = &'static [f64];
    const TYPE: MetricType = MetricType::HISTOGRAM;
    fn build(name: &str, meaning: &str, buckets: &&'static [f64]) -> prometheus::Result<Self> {
        Self::with_opts(HistogramOpts::new(name, meaning).buckets(buckets.to_vec()))
    }
}

/// A metric family whose series are bounded. Cloning gives another handle to the same series.
#[derive(Clone)]
pub struct Family<M: FamilyKind, const N: usize> {
    shared: Arc<Shared<M, N>>,
}

struct Shared<M: FamilyKind, const N: usize> {
    spec: FamilySpec<N>,
    shape: M::Shape,
    desc: Desc,
    cap: usize,
    overflow: M,
    // A lock, because any thread may count and the cap has to be judged together with the insertion. It is
    // held for one map operation. The library's own vectors are not used: they join label values without a
    // separator, so the pairs ("a", "bc") and ("ab", "c") would share one series.
    series: Mutex<Series<M, N>>,
}

struct Series<M, const N: usize> {
    by_labels: BTreeMap<[Box<str>; N], M>,
    overflowed: bool,
}

impl<M: FamilyKind, const N: usize> Family<M, N> {
    /// Makes a family that holds at most `cap` series.
    pub(super) fn new(
        spec: FamilySpec<N>,
        shape: M::Shape,
        cap: usize,
    ) -> prometheus::Result<Self> {
        let desc = Desc::new(
            spec.name.to_owned(),
            spec.meaning.to_owned(),
            spec.labels.map(str::to_owned).to_vec(),
            HashMap::new(),
        )?;
        let overflow = M::build(spec.name, spec.meaning, &shape)?;
        let series = Mutex::new(Series {
            by_labels: BTreeMap::new(),
            overflowed: false,
        });
        Ok(Self {
            shared: Arc::new(Shared {
                spec,
                shape,
                desc,
                cap,
                overflow,
                series,
            }),
        })
    }

    /// Returns the series with these label values and makes it where it does not exist. At the cap every
    /// new series is the overflow series.
    pub fn with(&self, values: [&str; N]) -> M {
        let mut series = self.series();
        let key = values.map(Box::from);
        if let Some(known) = series.by_labels.get(&key) {
            return known.clone();
        }
        if series.by_labels.len() >= self.shared.cap {
            series.overflowed = true;
            return self.shared.overflow.clone();
        }
        let made = M::build(
            self.shared.spec.name,
            self.shared.spec.meaning,
            &self.shared.shape,
        )
        .expect("because the overflow series was built from the same name and shape");
        series.by_labels.insert(key, made.clone());
        made
    }

    /// Ends a series, for an object that was deleted.
    pub fn forget(&self, values: [&str; N]) {
        self.series().by_labels.remove(&values.map(Box::from));
    }

    fn series(&self) -> MutexGuard<'_, Series<M, N>> {
        // A panic elsewhere cannot leave the map half changed, so a poisoned lock is as good as any.
        self.shared
            .series
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: FamilyKind, const N: usize> Collector for Family<M, N> {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.shared.desc]
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let series = self.series();
        let mut samples: Vec<Sample> = series
            .by_labels
            .iter()
            .map(|(values, metric)| {
                let names = self.shared.spec.labels.iter().copied();
                labelled(metric.metric(), names.zip(values.iter().map(AsRef::as_ref)))
            })
            .collect();
        if series.overflowed {
            let label = std::iter::once((OVERFLOW_LABEL, "true"));
            samples.push(labelled(self.shared.overflow.metric(), label));
        }
        drop(series);
        vec![family_of(
            self.shared.spec.name,
            self.shared.spec.meaning,
            M::TYPE,
            samples,
        )]
    }
}

/// Joins samples under one name.
pub(super) fn family_of(
    name: &str,
    meaning: &str,
    kind: MetricType,
    samples: Vec<Sample>,
) -> MetricFamily {
    let mut family = MetricFamily::default();
    family.set_name(name.to_owned());
    family.set_help(meaning.to_owned());
    family.set_field_type(kind);
    family.set_metric(samples);
    family
}

/// Gives a sample its labels.
pub(super) fn labelled<'a>(
    mut sample: Sample,
    labels: impl Iterator<Item = (&'a str, &'a str)>,
) -> Sample {
    let pairs = labels.map(|(name, value)| {
        let mut pair = LabelPair::default();
        pair.set_name(name.to_owned());
        pair.set_value(value.to_owned());
        pair
    });
    sample.set_label(pairs.collect());
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(cap: usize) -> Family<IntCounter, 2> {
        let spec = FamilySpec {
            name: "things_total",
            labels: ["place", "outcome"],
            meaning: "things",
            act: "never",
        };
        Family::new(spec, (), cap).unwrap()
    }

    fn lines(family: &Family<IntCounter, 2>) -> Vec<String> {
        let text = prometheus::TextEncoder::new()
            .encode_to_string(&family.collect())
            .unwrap();
        text.lines()
            .filter(|line| !line.starts_with('#'))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn a_series_keeps_its_own_count_and_its_labels_in_order() {
        let family = family(10);
        family.with(["b", "ok"]).inc();
        family.with(["a", "ok"]).inc_by(2);
        family.with(["b", "ok"]).inc();
        let expected = [
            "things_total{place=\"a\",outcome=\"ok\"} 2",
            "things_total{place=\"b\",outcome=\"ok\"} 2",
        ];
        assert_eq!(lines(&family), expected);
    }

    #[test]
    fn values_that_join_to_the_same_text_are_different_series() {
        let family = family(10);
        family.with(["a", "bc"]).inc();
        family.with(["ab", "c"]).inc_by(5);
        assert_eq!(lines(&family).len(), 2);
    }

    #[test]
    fn beyond_the_cap_new_series_share_one_and_old_ones_go_on() {
        let family = family(2);
        family.with(["a", "ok"]).inc();
        family.with(["b", "ok"]).inc();
        assert_eq!(
            lines(&family).len(),
            2,
            "no overflow series before anything overflows"
        );
        for place in ["c", "d", "e"] {
            family.with([place, "ok"]).inc();
        }
        family.with(["a", "ok"]).inc();
        let expected = [
            "things_total{place=\"a\",outcome=\"ok\"} 2",
            "things_total{place=\"b\",outcome=\"ok\"} 1",
            "things_total{otel_metric_overflow=\"true\"} 3",
        ];
        assert_eq!(lines(&family), expected);
    }

    #[test]
    fn a_forgotten_series_makes_room() {
        let family = family(1);
        family.with(["a", "ok"]).inc();
        family.forget(["a", "ok"]);
        family.with(["b", "ok"]).inc();
        assert_eq!(
            lines(&family),
            ["things_total{place=\"b\",outcome=\"ok\"} 1"]
        );
    }

    #[test]
    fn two_threads_count_in_one_series() {
        let family = family(10);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..100).for_each(|_| family.with(["a", "ok"]).inc()));
            }
        });
        assert_eq!(family.with(["a", "ok"]).get(), 400);
    }
}
