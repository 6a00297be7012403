//! One reason to refuse, with everything that is promised about it.

use manifests::{Decision, FolderVerdict, Intent, Mode, Outcome};
use model::{IssueKind, Refusal, RefusalCode, RefusalScope};

use crate::support::{Bed, line_of};

/// The names of the printed columns.
pub(crate) const HEAD: &str =
    "code                          issue                     scope      what is refused, and where";

/// The object of most cases.
pub(crate) const CONF: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: conf
  namespace: demo
data:
  a: two
";

type Change = Box<dyn Fn(&mut Bed)>;
type More = Box<dyn Fn() -> Intent>;

/// A case and its twin.
pub(crate) struct Row {
    pub(crate) reason: String,
    pub(crate) code: RefusalCode,
    pub(crate) issue: Option<IssueKind>,
    scope: RefusalScope,
    given: Change,
    mended: Change,
    live: Vec<String>,
    also: Option<More>,
    file: Option<&'static str>,
    file_begins: Option<&'static str>,
    /// Words that stand in the line that is named, and in no line before it.
    line: Option<&'static str>,
    field: Option<&'static str>,
    /// How the message begins.
    says: Option<String>,
}

impl Row {
    /// A case in which the whole folder is refused.
    pub(crate) fn folder(issue: IssueKind, reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            code: RefusalCode::UnsupportedContent,
            issue: Some(issue),
            scope: RefusalScope::Folder,
            given: Box::new(|_| {}),
            mended: Box::new(|_| {}),
            live: vec![CONF.to_owned()],
            also: None,
            file: None,
            file_begins: None,
            line: None,
            field: None,
            says: None,
        }
    }

    /// A case in which one object is refused.
    pub(crate) fn object(
        code: RefusalCode,
        issue: impl Into<Option<IssueKind>>,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            code,
            issue: issue.into(),
            scope: RefusalScope::Object,
            ..Self::folder(IssueKind::ForeignFile, reason)
        }
    }

    /// A case in which a new object has no place.
    pub(crate) fn placement(code: RefusalCode, reason: impl Into<String>) -> Self {
        Self {
            scope: RefusalScope::Placement,
            ..Self::object(code, None, reason)
        }
    }

    pub(crate) fn code(self, code: RefusalCode) -> Self {
        Self { code, ..self }
    }

    pub(crate) fn scope(self, scope: RefusalScope) -> Self {
        Self { scope, ..self }
    }

    /// What the repository and its target are like.
    pub(crate) fn given(self, given: impl Fn(&mut Bed) + 'static) -> Self {
        Self {
            given: Box::new(given),
            ..self
        }
    }

    /// The smallest change after which the object lands.
    pub(crate) fn mended(self, mended: impl Fn(&mut Bed) + 'static) -> Self {
        Self {
            mended: Box::new(mended),
            ..self
        }
    }

    /// The objects that are mirrored, instead of the usual one.
    pub(crate) fn live<const N: usize>(self, live: [&str; N]) -> Self {
        Self {
            live: live.map(str::to_owned).to_vec(),
            ..self
        }
    }

    /// What is asked for in the same batch.
    pub(crate) fn also(self, intent: impl Fn() -> Intent + 'static) -> Self {
        Self {
            also: Some(Box::new(intent)),
            ..self
        }
    }

    pub(crate) fn at(self, file: &'static str) -> Self {
        Self {
            file: Some(file),
            ..self
        }
    }

    /// Where the file has a long name: how that begins.
    pub(crate) fn at_part(self, start: &'static str) -> Self {
        Self {
            file_begins: Some(start),
            ..self
        }
    }

    pub(crate) fn line(self, words: &'static str) -> Self {
        Self {
            line: Some(words),
            ..self
        }
    }

    pub(crate) fn field(self, field: &'static str) -> Self {
        Self {
            field: Some(field),
            ..self
        }
    }

    pub(crate) fn says(self, start: impl Into<String>) -> Self {
        Self {
            says: Some(start.into()),
            ..self
        }
    }

    /// Proves the case and its twin, and returns their line of the table.
    pub(crate) fn prove(&self) -> String {
        let mut bed = Bed::new();
        (self.given)(&mut bed);
        let refusal = self.refused(&mut bed);
        (self.mended)(&mut bed);
        self.lands(&mut bed);
        let at = refusal.at.as_ref().map_or_else(String::new, |at| {
            let line = at.line.map_or(String::new(), |line| format!(":{line}"));
            let field = at
                .field
                .as_deref()
                .map_or(String::new(), |field| format!(" {field}"));
            format!(" ({}{line}{field})", at.path)
        });
        let issue = self.issue.map_or("", IssueKind::as_str);
        format!(
            "{:<29} {:<25} {:<10} {}{at}",
            self.code.as_str(),
            issue,
            self.scope.as_str(),
            self.reason
        )
    }

    fn refused(&self, bed: &mut Bed) -> Refusal {
        let outcome = self.plan(bed);
        let refusal = self.only_refusal(&outcome);
        let about = format!("{}: {refusal:#?}", self.reason);
        assert_eq!(refusal.code, self.code, "{about}");
        assert_eq!(refusal.issue, self.issue, "{about}");
        assert_eq!(refusal.scope, self.scope, "{about}");
        assert!(
            !refusal.message.is_empty() && !refusal.remedy.is_empty(),
            "{about}"
        );
        if let Some(start) = &self.says {
            assert!(refusal.message.starts_with(start), "{about}");
        }
        let at = refusal.at.as_ref();
        let file = at.map(|at| at.path.as_str());
        match self.file_begins {
            None => assert_eq!(file, self.file, "{about}"),
            Some(start) => assert!(file.unwrap().starts_with(start), "{about}"),
        }
        let line = self
            .line
            .map(|words| line_of(bed.text(self.file.unwrap()), words));
        assert_eq!(at.and_then(|at| at.line), line, "{about}");
        assert_eq!(at.and_then(|at| at.field.as_deref()), self.field, "{about}");
        refusal
    }

    /// Returns what refuses: the one issue of a refused folder, or the one refusal of an object.
    fn only_refusal(&self, outcome: &Outcome) -> Refusal {
        let told: Vec<Refusal> = outcome.refusals().cloned().collect();
        match &outcome.folder {
            FolderVerdict::Refused(issues) => {
                assert!(outcome.is_empty(), "{}", self.reason);
                assert_eq!(told.len(), self.live.len(), "{}: {told:#?}", self.reason);
                for refusal in &told {
                    assert_eq!(refusal.code, issues[0].code, "{}", self.reason);
                    assert_eq!(refusal.scope, RefusalScope::Folder, "{}", self.reason);
                }
                let [issue] = &issues[..] else {
                    panic!("{}: {issues:#?}", self.reason);
                };
                issue.clone()
            }
            FolderVerdict::Accepted(_) => {
                let [refusal] = &told[..] else {
                    panic!("{}: {told:#?}", self.reason);
                };
                assert!(refusal.object.is_some(), "{}", self.reason);
                // Every other object of the batch lands.
                for decided in &outcome.decisions {
                    let lands = matches!(
                        decided.decision,
                        Decision::Created { .. } | Decision::Edited { .. }
                    );
                    let is_refused = Some(&decided.id) == refusal.object.as_ref();
                    assert!(lands != is_refused, "{}: {decided:?}", self.reason);
                }
                refusal.clone()
            }
        }
    }

    fn lands(&self, bed: &mut Bed) {
        let outcome = self.plan(bed);
        let refusals: Vec<_> = outcome.refusals().collect();
        assert!(
            outcome.folder.is_accepted() && refusals.is_empty(),
            "the twin of {}: {:#?} {refusals:#?}",
            self.reason,
            outcome.folder
        );
        assert!(!outcome.is_empty(), "the twin of {}", self.reason);
    }

    fn plan(&self, bed: &mut Bed) -> Outcome {
        let mut intents: Vec<_> = self.live.iter().map(|live| bed.upsert(live)).collect();
        intents.extend(self.also.as_ref().map(|also| also()));
        bed.plan(&intents, Mode::Apply)
    }
}
