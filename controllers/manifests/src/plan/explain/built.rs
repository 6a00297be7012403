//! Explanations for objects that builds make: the input that gives each field its value.

use std::sync::Arc;

use model::{DesiredObject, ReadError, Refusal, RefusalCode};
use serde_json::Value;

use super::super::intent::Intent;
use super::super::wanted::{wanted, without_namespace};
use super::difference::{Difference, Gap, Told, gaps};
use super::fix::Fixes;
use super::{Explanation, Fix, Ground, Supplier, SupplierKind};
use crate::fidelity::divergences;
use crate::folder::{AcceptedFolder, Made};
use crate::kustomize::change::way_in;
use crate::kustomize::supplier::{Supply, SupplyKind, supplier};
use crate::yaml::{self, Step};

/// Explains the refusal of an object that a build makes.
pub(super) fn explain_made(
    (object, refusal): (&Arc<DesiredObject>, &Refusal),
    made: &Made,
    folder: AcceptedFolder<'_>,
    ground: Ground<'_>,
    fixes: &mut Fixes<'_>,
) -> Result<Explanation, ReadError> {
    let Some((render, rendered)) = folder.object(made) else {
        return Ok(Explanation::default());
    };
    let held = rendered.node.to_value();
    let mut live = wanted(&held, object, &ground.policy.defaults);
    if rendered.namespace().is_none() {
        live = without_namespace(live);
    }
    let gaps: Vec<Gap<'_>> = match refusal.code {
        RefusalCode::RenderDoesNotMatchLive => {
            let tokens = divergences(&held, &live);
            tokens.into_iter().map(Gap::from).collect()
        }
        _ => gaps(&held, &live),
    };
    let mut supplies = Vec::new();
    for gap in &gaps {
        supplies.push(supplier(ground.tree, render, rendered, &gap.field)?);
    }
    let fix = input_fix(object, &gaps, &supplies, fixes)?;
    let differences: Vec<Difference> = gaps
        .into_iter()
        .zip(&supplies)
        .map(|(gap, supply)| Difference {
            field: Some(gap.field.to_string()),
            path: supply.as_ref().map(|supply| supply.path.clone()),
            line: supply.as_ref().map(|supply| supply.line),
            expected: Told::of(gap.held),
            live: Told::of(gap.live),
        })
        .collect();
    let at = blamed(refusal, &supplies);
    Ok(Explanation {
        supplier: at.map(|at| Supplier {
            kind: kind_of(supplies[at].as_ref()),
            path: supplies[at].as_ref().map_or_else(
                || folder.kustomization_of(&made.root),
                |supply| supply.path.clone(),
            ),
            line: supplies[at].as_ref().map_or(1, |supply| supply.line),
            field: differences[at].field.clone(),
        }),
        differences,
        fix,
    })
}

/// Returns the position of the difference that the refusal is about: the one that stands where it says, or the first.
fn blamed(refusal: &Refusal, supplies: &[Option<Supply>]) -> Option<usize> {
    let at = refusal.at.as_ref();
    let is_there = |supply: &Option<Supply>| {
        let Some((supply, at)) = supply.as_ref().zip(at) else {
            return false;
        };
        supply.path == at.path && Some(supply.line) == at.line
    };
    let found = supplies.iter().position(is_there);
    found.or((!supplies.is_empty()).then_some(0))
}

fn kind_of(supply: Option<&Supply>) -> SupplierKind {
    match supply.map(|supply| supply.kind) {
        None | Some(SupplyKind::Document) => SupplierKind::Document,
        Some(kind) => SupplierKind::Build(kind),
    }
}

/// Writes all live values into the one file that supplies them, and asks whether the object lands then.
fn input_fix(
    object: &Arc<DesiredObject>,
    gaps: &[Gap<'_>],
    supplies: &[Option<Supply>],
    fixes: &mut Fixes<'_>,
) -> Result<Option<Fix>, ReadError> {
    let Some(Some(first)) = supplies.first() else {
        return Ok(None);
    };
    let Some(text) = fixes.text_of(&first.path)? else {
        return Ok(None);
    };
    let Ok(mut values) = yaml::values(&text) else {
        return Ok(None);
    };
    let mut documents = Vec::new();
    for (gap, supply) in gaps.iter().zip(supplies) {
        let supply = supply.as_ref().filter(|supply| supply.path == first.path);
        let (Some(supply), Some(_), Some(live)) = (supply, gap.held, gap.live) else {
            return Ok(None);
        };
        let Some((document, way)) = way_in(&text, supply.at) else {
            return Ok(None);
        };
        let value = values.get_mut(document).and_then(|value| at(value, &way));
        let Some(value) = value.filter(|value| !value.is_object() && !value.is_array()) else {
            return Ok(None);
        };
        *value = live.clone();
        documents.push(document);
    }
    documents.sort_unstable();
    documents.dedup();
    let edits: Vec<(usize, &Value)> = documents.iter().map(|at| (*at, &values[*at])).collect();
    let Ok(text) = yaml::edit(&text, &edits) else {
        return Ok(None);
    };
    let wish = Intent::Upsert(Arc::clone(object));
    fixes.of_input(&first.path, text, &wish)
}

fn at<'v>(value: &'v mut Value, way: &[Step]) -> Option<&'v mut Value> {
    way.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Item(at) => value.get_mut(*at),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_leads_to_the_value_that_is_changed() {
        let mut value = serde_json::json!({"a": [{"b": 1}]});
        let key = |key: &str| Step::Key(key.to_owned());
        let steps = [key("a"), Step::Item(0), key("b")];
        assert_eq!(at(&mut value, &steps), Some(&mut serde_json::json!(1)));
        assert_eq!(at(&mut value, &[Step::Item(0)]), None);
    }
}
