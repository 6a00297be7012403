//! Kustomize's own library, in a process of its own.

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use testkit::Tool;

use super::archive::Files;
use crate::oracle::Program;

/// A version of kustomize.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// 5.8.1, which our renderer follows.
    Followed,
    /// 5.5.0.
    Older,
}

/// A running oracle.
#[derive(Debug)]
pub struct Oracle(Program);

/// A folder to build.
#[derive(Debug, Clone, Serialize)]
struct Question<'a> {
    #[serde(serialize_with = "encoded")]
    files: &'a Files,
    folder: &'a str,
    unrestricted: bool,
}

/// What a folder builds to: its objects in the order of accumulation, or why it cannot be built.
pub type Answer = Result<Vec<Value>, String>;

#[derive(Deserialize)]
struct Line {
    objects: Option<Vec<Value>>,
    #[serde(default)]
    error: String,
}

impl Oracle {
    /// Builds the oracle where it is missing, and starts it.
    ///
    /// # Errors
    /// Returns what is missing to build or start it.
    pub fn start(version: Version) -> Result<Self> {
        let tool = match version {
            Version::Followed => Tool::KustomizeOracle,
            Version::Older => Tool::KustomizeOracle55,
        };
        Program::start(tool, &[]).map(Self)
    }

    /// Builds some folders, each of some files, and returns the answers in the same order.
    ///
    /// Files outside of a folder may be read, and long binary values have no line breaks, as the API server has them.
    ///
    /// # Errors
    /// Returns that the oracle died or does not make sense.
    pub fn build<'f>(
        &mut self,
        folders: impl IntoIterator<Item = (&'f Files, &'f str)>,
    ) -> Result<Vec<Answer>> {
        self.build_with(folders, true)
    }

    /// Builds some folders, each of which may read its own files and other folders only, as is the rule.
    ///
    /// # Errors
    /// Returns that the oracle died or does not make sense.
    pub fn build_restricted<'f>(
        &mut self,
        folders: impl IntoIterator<Item = (&'f Files, &'f str)>,
    ) -> Result<Vec<Answer>> {
        self.build_with(folders, false)
    }

    fn build_with<'f>(
        &mut self,
        folders: impl IntoIterator<Item = (&'f Files, &'f str)>,
        unrestricted: bool,
    ) -> Result<Vec<Answer>> {
        let questions: Vec<Question> = folders
            .into_iter()
            .map(|(files, folder)| Question {
                files,
                folder,
                unrestricted,
            })
            .collect();
        let lines: Vec<Line> = self.0.ask(&questions)?;
        let mut answers: Vec<Answer> = lines
            .into_iter()
            .map(|line| line.objects.ok_or(line.error))
            .collect();
        let objects = answers.iter_mut().flatten().flatten();
        objects.for_each(without_line_breaks);
        Ok(answers)
    }
}

/// Writes the content of files in the way that Go reads bytes.
fn encoded<S: Serializer>(files: &Files, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(
        files
            .iter()
            .map(|(path, content)| (path, STANDARD.encode(content))),
    )
}

/// Takes out the line breaks that kustomize puts into long binary values and the API server takes out again.
fn without_line_breaks(object: &mut Value) {
    let Some(Value::Object(binary)) = object.get_mut("binaryData") else {
        return;
    };
    for value in binary.values_mut() {
        if let Value::String(text) = value {
            text.retain(|char| char != '\n');
        }
    }
}
