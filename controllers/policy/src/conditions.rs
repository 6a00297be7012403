//! Conditions: gates contribute verdicts, and `Ready`, `Reconciling` and `Stalled` follow from them once.
//!
//! A stall beats progress, progress beats convergence, and among equals the first contributor names the
//! reason. The abnormal-true pair is always present, also when it is `False`, so that a reader need not
//! tell "fine" from "not looked at yet".

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The summary: whether the object does what its spec says.
pub const READY: &str = "Ready";
/// Whether work is in flight that needs nobody.
pub const RECONCILING: &str = "Reconciling";
/// Whether nothing moves until a person changes something.
pub const STALLED: &str = "Stalled";
/// The reason of everything that is as it should be.
pub const SUCCEEDED: &str = "Succeeded";
/// The reason of work in flight that has no more precise one.
pub const PROGRESSING: &str = "Progressing";

/// The longest message that Kubernetes keeps, in bytes.
const LONGEST_MESSAGE: usize = 32_768;

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not.
    False,
    /// It is not known yet.
    Unknown,
}

impl ConditionStatus {
    /// Returns the word that Kubernetes uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

/// One condition of a status, in the shape that Kubernetes gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Which condition.
    #[serde(rename = "type")]
    pub type_: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, as one word for machines.
    pub reason: String,
    /// Why, for people, with the next step where there is one.
    pub message: String,
    /// The generation of the spec that was looked at.
    #[serde(default)]
    pub observed_generation: i64,
    /// When `status` last changed, in RFC 3339.
    pub last_transition_time: String,
}

/// What a gate says about the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The gate is open.
    Met,
    /// It will open by itself.
    Progressing,
    /// A person has to change something first.
    Stalled,
    /// Nobody has looked yet; it counts as progress.
    Unknown,
}

impl Verdict {
    fn shown(self) -> ConditionStatus {
        match self {
            Self::Met => ConditionStatus::True,
            Self::Progressing | Self::Stalled => ConditionStatus::False,
            Self::Unknown => ConditionStatus::Unknown,
        }
    }
}

/// What all contributions together say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summary {
    /// Every gate is open.
    Ready,
    /// Work is in flight.
    Reconciling,
    /// A person is needed.
    Stalled,
}

/// The conditions of one object while they are being decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionSet {
    shown: Vec<Statement>,
    stall: Option<Explanation>,
    progress: Option<Explanation>,
    success: Explanation,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Statement {
    type_: &'static str,
    status: ConditionStatus,
    explanation: Explanation,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Explanation {
    reason: Cow<'static, str>,
    message: String,
}

impl ConditionSet {
    /// Starts without any gate. `message` is what `Ready` says when every gate is open.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            shown: Vec::new(),
            stall: None,
            progress: None,
            success: explanation(SUCCEEDED.into(), message.into()),
        }
    }

    /// Shows a gate as a condition of its own and counts it.
    pub fn gate(
        &mut self,
        type_: &'static str,
        verdict: Verdict,
        reason: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) {
        let (reason, message) = (reason.into(), message.into());
        self.contribute(verdict, reason.clone(), message.clone());
        self.note(type_, verdict.shown(), reason, message);
    }

    /// Counts a gate that has no condition of its own.
    pub fn contribute(
        &mut self,
        verdict: Verdict,
        reason: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) {
        let first = match verdict {
            Verdict::Met => return,
            Verdict::Progressing | Verdict::Unknown => &mut self.progress,
            Verdict::Stalled => &mut self.stall,
        };
        first.get_or_insert_with(|| explanation(reason.into(), message.into()));
    }

    /// Shows a condition that does not count.
    pub fn note(
        &mut self,
        type_: &'static str,
        status: ConditionStatus,
        reason: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) {
        debug_assert!(
            self.shown.iter().all(|statement| statement.type_ != type_),
            "condition {type_} is stated twice"
        );
        let explanation = explanation(reason.into(), message.into());
        self.shown.push(Statement {
            type_,
            status,
            explanation,
        });
    }

    /// Says what `Ready` says when every gate is open, where `Succeeded` would say too little.
    pub fn succeed_with(
        &mut self,
        reason: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) {
        self.success = explanation(reason.into(), message.into());
    }

    /// Returns what the contributions say together.
    pub fn summary(&self) -> Summary {
        match (&self.stall, &self.progress) {
            (Some(_), _) => Summary::Stalled,
            (None, Some(_)) => Summary::Reconciling,
            (None, None) => Summary::Ready,
        }
    }

    /// Returns the reason that `Ready` will carry.
    pub fn reason(&self) -> &str {
        &self.leading().reason
    }

    /// Returns the message that `Ready` will carry.
    pub fn message(&self) -> &str {
        &self.leading().message
    }

    /// Merges with the conditions that were published before: a time moves only where a status flips.
    pub fn finish(&self, previous: &[Condition], generation: i64, now: &str) -> Vec<Condition> {
        let summary = self.summary();
        let leading = self.leading();
        let state = |type_, holds: bool| Statement {
            type_,
            status: holds.into(),
            explanation: leading.clone(),
        };
        let derived = [
            state(READY, summary == Summary::Ready),
            state(RECONCILING, summary == Summary::Reconciling),
            state(STALLED, summary == Summary::Stalled),
        ];
        derived
            .iter()
            .chain(&self.shown)
            .map(|statement| statement.dated(previous, generation, now))
            .collect()
    }

    fn leading(&self) -> &Explanation {
        self.stall
            .as_ref()
            .or(self.progress.as_ref())
            .unwrap_or(&self.success)
    }
}

impl Statement {
    fn dated(&self, previous: &[Condition], generation: i64, now: &str) -> Condition {
        let unchanged = previous
            .iter()
            .find(|before| before.type_ == self.type_ && before.status == self.status);
        Condition {
            type_: self.type_.to_owned(),
            status: self.status,
            reason: self.explanation.reason.clone().into_owned(),
            message: self.explanation.message.clone(),
            observed_generation: generation,
            last_transition_time: unchanged.map_or_else(
                || now.to_owned(),
                |before| before.last_transition_time.clone(),
            ),
        }
    }
}

fn explanation(reason: Cow<'static, str>, mut message: String) -> Explanation {
    debug_assert!(is_reason(&reason), "{reason:?} is no condition reason");
    if message.len() > LONGEST_MESSAGE {
        let mut end = LONGEST_MESSAGE;
        while !message.is_char_boundary(end) {
            end -= 1;
        }
        message.truncate(end);
    }
    Explanation { reason, message }
}

/// Says whether the text is a reason that the API server accepts:
/// `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`, at most 1024 bytes.
pub fn is_reason(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ',' || c == ':';
    text.len() <= 1024
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(inner)
}

#[cfg(test)]
mod tests;
