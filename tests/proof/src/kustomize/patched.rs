//! Made-up objects and patches for them.

use super::archive::Files;
use super::kinds::{KINDS, Taste};
use super::written::Written;
use crate::dice::Dice;

/// An object and a patch that matches it.
#[derive(Debug, Clone)]
pub struct Patched {
    /// The object.
    pub base: Written,
    /// The patch.
    pub patch: Written,
}

/// Makes an object and a patch.
pub fn patched(dice: &mut Dice) -> Patched {
    let kind = loop {
        let kind = dice.one(&KINDS);
        // Subjects without a name or with another type are a matter of references.
        if kind.kind != "RoleBinding" {
            break kind;
        }
    };
    Patched {
        base: kind.object(dice, Taste::Wild, "it"),
        patch: kind.patch(dice, Taste::Wild, "it"),
    }
}

impl Patched {
    /// Returns the folder in which the object is patched.
    pub fn folder(&self) -> Files {
        let kustomization = "resources: [base.yaml]\npatches: [{path: patch.yaml}]\n";
        Files::from([
            ("kustomization.yaml".to_owned(), kustomization.into()),
            ("base.yaml".to_owned(), self.base.yaml().into()),
            ("patch.yaml".to_owned(), self.patch.yaml().into()),
        ])
    }
}
