//! The columns of `kubectl get`.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceColumnDefinition;

use crate::conditions::ConditionType;

/// One column: shown always, or only with `-o wide`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    name: &'static str,
    type_: &'static str,
    source: Source,
    wide: bool,
}

/// Where a column reads.
#[derive(Debug, Clone, Copy)]
enum Source {
    Path(&'static str),
    Condition(ConditionType, &'static str),
}

impl Column {
    /// When the object was created, as an age.
    pub(crate) const AGE: Self = Self::age("Age", ".metadata.creationTimestamp");

    /// Whether the object is ready.
    pub(crate) const READY: Self = Self::status("Ready", ConditionType::Ready);

    /// Why it is or is not, in one word.
    pub(crate) const REASON: Self = Self::reason("Reason", ConditionType::Ready);

    /// Why it is or is not, in a sentence; too long for the short form.
    pub(crate) const MESSAGE: Self = Self::new(
        "Message",
        "string",
        Source::Condition(ConditionType::Ready, "message"),
    )
    .wide();

    /// A text of the object.
    pub(crate) const fn text(name: &'static str, path: &'static str) -> Self {
        Self::new(name, "string", Source::Path(path))
    }

    /// A number of the object.
    pub(crate) const fn number(name: &'static str, path: &'static str) -> Self {
        Self::new(name, "integer", Source::Path(path))
    }

    /// A time of the object, shown as an age.
    pub(crate) const fn age(name: &'static str, path: &'static str) -> Self {
        Self::new(name, "date", Source::Path(path))
    }

    /// The status of a condition.
    pub(crate) const fn status(name: &'static str, condition: ConditionType) -> Self {
        Self::new(name, "string", Source::Condition(condition, "status"))
    }

    /// The reason of a condition.
    pub(crate) const fn reason(name: &'static str, condition: ConditionType) -> Self {
        Self::new(name, "string", Source::Condition(condition, "reason"))
    }

    /// Shows the column only with `-o wide`.
    pub(crate) const fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    const fn new(name: &'static str, type_: &'static str, source: Source) -> Self {
        Self {
            name,
            type_,
            source,
            wide: false,
        }
    }

    /// Returns the column as a CRD declares it.
    pub(crate) fn definition(self) -> CustomResourceColumnDefinition {
        let json_path = match self.source {
            Source::Path(path) => path.to_owned(),
            Source::Condition(condition, field) => {
                format!(".status.conditions[?(@.type==\"{condition}\")].{field}")
            }
        };
        CustomResourceColumnDefinition {
            name: self.name.to_owned(),
            type_: self.type_.to_owned(),
            json_path,
            priority: self.wide.then_some(1),
            ..CustomResourceColumnDefinition::default()
        }
    }
}
