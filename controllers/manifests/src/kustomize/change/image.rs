//! Image references, part by part.

use serde_json::Value;

use super::refuse;
use super::route::{Route, Stop};
use super::target::{Part, Says};
use crate::kustomize::image_reference::ImageReference;
use crate::kustomize::node::{ImagePart, ImageParts, Site, Supplier};
use crate::yaml::Step;

/// A part that differs.
struct Differing<'p> {
    part: Part,
    supplier: Option<&'p ImagePart>,
    wanted: Option<String>,
}

impl Route<'_, '_> {
    /// Changes the parts of a reference where they are written: in an entry that has the key, else in the document
    /// (OV-3, OV-4).
    pub(super) fn image(
        &mut self,
        way: &[Step],
        parts: &ImageParts,
        old: &Value,
        wanted: &Value,
    ) -> Result<(), Stop> {
        let (Some(before), Some(after)) = (read(old), read(wanted)) else {
            return self.document_image(way, wanted);
        };
        let differing = differing(&before, &after, parts);
        let is_outside = differing.iter().any(|part| match part.supplier {
            Some(ImagePart::Entry(site)) => !self.router.is_writable(*site),
            Some(ImagePart::Before(supplier)) => match &**supplier {
                Supplier::Document(site) => !self.router.is_writable(*site),
                _ => false,
            },
            None => self.origin().is_some_and(|it| !self.router.is_writable(it)),
        });
        if is_outside && self.override_in_root(way, old, wanted)? {
            return Ok(());
        }
        let entry_of = |part: &Option<ImagePart>| match part {
            Some(ImagePart::Entry(site)) => Some(*site),
            Some(ImagePart::Before(_)) | None => None,
        };
        let pinned = entry_of(&parts.tag).or(entry_of(&parts.digest));
        // A new name ends what an entry for the old one did, so the document has to say the rest too.
        if let Some(ImagePart::Before(_)) = differing
            .iter()
            .find(|part| part.part == Part::Name)
            .and_then(|part| part.supplier)
            && pinned.is_some()
        {
            return self.document_image(way, wanted);
        }
        for part in differing {
            match (part.supplier, &part.wanted) {
                (Some(ImagePart::Entry(site)), Some(wanted)) => {
                    let target = self.value_at(*site, way)?;
                    self.say(target, Says::Value(Value::String(wanted.clone())));
                }
                (Some(ImagePart::Entry(site)), None) => return Err(self.pinned(*site, way)?),
                (Some(ImagePart::Before(supplier)), _) => {
                    if !matches!(**supplier, Supplier::Document(_)) {
                        return Err(self.foreign(supplier, way)?);
                    }
                    self.document_part(way, part)?;
                }
                (None, _) => {
                    if let Some(site) = pinned.filter(|_| part.part != Part::Name) {
                        // The entry takes whatever the document would say away.
                        return Err(self.pinned(site, way)?);
                    }
                    self.document_part(way, part)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses what an entry keeps from being said (OV-7).
    fn pinned(&mut self, site: Site, way: &[Step]) -> Result<Stop, Stop> {
        let at = self.router.location(site, way)?;
        Ok(refuse::not_sayable(at, "an entry of images").into())
    }

    fn document_image(&mut self, way: &[Step], wanted: &Value) -> Result<(), Stop> {
        let target = self.target(way)?;
        self.say(target, Says::Value(wanted.clone()));
        Ok(())
    }

    fn document_part(&mut self, way: &[Step], differing: Differing<'_>) -> Result<(), Stop> {
        let (file, mut target) = self.target(way)?;
        target.part = differing.part;
        let says = differing.wanted.map(Value::String);
        self.say((file, target), says.map_or(Says::Nothing, Says::Value));
        Ok(())
    }
}

/// Takes a reference apart that comes together again as it was.
pub(super) fn read(value: &Value) -> Option<ImageReference> {
    let text = value.as_str()?;
    let reference = ImageReference::read(text);
    (!reference.name.is_empty() && reference.write() == text).then_some(reference)
}

fn differing<'p>(
    before: &ImageReference,
    after: &ImageReference,
    parts: &'p ImageParts,
) -> Vec<Differing<'p>> {
    let name = |it: &ImageReference| Some(it.name.clone());
    let all = [
        (Part::Name, name(before), name(after), Some(&parts.name)),
        (
            Part::Tag,
            before.tag.clone(),
            after.tag.clone(),
            parts.tag.as_ref(),
        ),
        (
            Part::Digest,
            before.digest.clone(),
            after.digest.clone(),
            parts.digest.as_ref(),
        ),
    ];
    let differ = all
        .into_iter()
        .filter(|(_, before, after, _)| before != after);
    differ
        .map(|(part, _, wanted, supplier)| Differing {
            part,
            supplier,
            wanted,
        })
        .collect()
}
