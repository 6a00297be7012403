//! A16: what is encrypted.

use manifests::Intent;
use manifests::plan::PruneMode;
use model::{Collection, RefusalCode, RepoPath, Scope, Selector};
use serde_json::Value;

use super::Row;
use super::case::{After, Case, Draft, Keys, Page, path};
use super::keyring::{recipient, seal};
use super::objects::{Kind, id_of};
use super::placing::built_in;
use super::tweak::Tweak;
use crate::dice::Dice;

/// The rows of A16 about Secrets that are new.
pub fn new_ones() -> Vec<Row> {
    vec![
        Row::promised("SE-1", "a new Secret is encrypted, and shown nowhere", se_1),
        Row::promised(
            "SE-1 custom",
            "a custom type that the operator was told of",
            se_1_custom,
        ),
        Row::promised(
            "SE-1 refused",
            "without keys it is refused, and the others land",
            se_1_refused,
        ),
        Row::promised(
            "SE-2 append",
            "a taken path is no place for a Secret",
            se_2_append,
        ),
        Row::promised(
            "SE-2 onto",
            "an encrypted file is no place for others",
            se_2_onto,
        ),
        Row::promised(
            "SE-2 mixed",
            "the first of a mixed new file decides",
            se_2_mixed,
        ),
    ]
}

/// The rows of A16 about Secrets that have a document.
pub fn held_ones() -> Vec<Row> {
    vec![
        Row::promised(
            "SE-3 SE-5",
            "it is written where it is, whatever the file is called",
            se_3,
        ),
        Row::promised(
            "SE-4",
            "what says the same is not sealed again, with a key or without",
            se_4,
        ),
        Row::promised("SE-6", "nothing else changes with it", se_6),
        Row::promised("SE-7", "a plain Secret in Git is replaced", se_7),
        Row::promised(
            "SE-8",
            ".sops.yaml comes with the first, and an own one stays",
            se_8,
        ),
        Row::promised(
            "SE-9",
            "an encrypted document goes by its identity, or never",
            se_9,
        ),
    ]
}

fn secret(draft: &mut Draft<'_>) -> Value {
    draft.object(Kind::Secret)
}

/// Draws a change of what is encrypted.
fn changed(value: &Value, dice: &mut Dice) -> Option<Value> {
    let tweak = dice.one(&[Tweak::DataValue, Tweak::DataAdd, Tweak::DataRemove]);
    tweak.apply(value, dice)
}

/// Puts a sealed document into a file that has a name of any kind.
fn put_sealed(draft: &mut Draft<'_>, value: &Value) -> RepoPath {
    let name = draft.name("held");
    let end = draft.dice.one(&[".sops.yaml", ".yaml", ".enc.yml"]);
    let file = path(&format!("secrets/{name}{end}"));
    put_sealed_at(draft, &file, value);
    file
}

fn put_sealed_at(draft: &mut Draft<'_>, file: &RepoPath, value: &Value) {
    let seed = draft.dice.number();
    let fingerprint = draft.keys == Keys::Fingerprint;
    let text = seal(&id_of(value), value, fingerprint, seed);
    draft.file_at(file, text.as_bytes());
}

fn se_1(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.keys = Keys::Both;
    draft.surroundings();
    let value = secret(&mut draft);
    draft.happens(&value);
    draft.turns(&built_in(&value), After::Sealed(value));
    Some(draft.finish())
}

fn se_1_custom(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.keys = Keys::Both;
    let value = draft.object(Kind::TenantSecret);
    if draft.dice.once_in(2) {
        draft.happens(&value);
        draft.turns(&built_in(&value), After::Sealed(value));
    } else {
        let wanted = changed(&value, draft.dice)?;
        let file = put_sealed(&mut draft, &value);
        draft.happens(&wanted);
        draft.turns(&file, After::Sealed(wanted));
    }
    Some(draft.finish())
}

fn se_1_refused(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    let value = secret(&mut draft);
    if draft.dice.once_in(2) {
        put_sealed(&mut draft, &value);
    }
    let wanted = changed(&value, draft.dice)?;
    draft.happens(&wanted);
    draft.refuses(&value, RefusalCode::EncryptionNotConfigured);
    let other = draft.object(Kind::ConfigMap);
    let other = draft.arrives(&other);
    draft.comes(&built_in(&other), other);
    Some(draft.finish())
}

fn se_2_append(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.keys = Keys::Both;
    let value = secret(&mut draft);
    if draft.dice.once_in(2) {
        let other = secret(&mut draft);
        put_sealed_at(&mut draft, &built_in(&value), &other);
    } else {
        draft.place(&[("v1/secrets", "s/{namespace}/{name}.yaml")], None);
        let file = path(&format!("s/team-a/{}.yaml", id_of(&value).name));
        draft.bystanders(&file, 1);
    }
    draft.happens(&value);
    draft.refuses(&value, RefusalCode::SensitiveAppend);
    Some(draft.finish())
}

fn se_2_onto(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.keys = Keys::Both;
    let held = secret(&mut draft);
    put_sealed_at(&mut draft, &path("bundle.yaml"), &held);
    draft.place(&[("v1/configmaps", "bundle.yaml")], None);
    let value = draft.object(Kind::ConfigMap);
    draft.happens(&value);
    draft.refuses(&value, RefusalCode::PlaintextOntoEncrypted);
    let other = draft.object(Kind::Service);
    let other = draft.arrives(&other);
    draft.comes(&built_in(&other), other);
    Some(draft.finish())
}

/// A ConfigMap comes before a Secret by identity, and a Service behind it.
fn se_2_mixed(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.keys = Keys::Both;
    let value = secret(&mut draft);
    let name = id_of(&value).name.to_string();
    let file = path(&format!("team-a/{name}.yaml"));
    let kind = draft.dice.one(&[Kind::ConfigMap, Kind::Service]);
    let template = "{namespace}/{name}.yaml";
    let key = if kind == Kind::Service {
        "v1/services"
    } else {
        "v1/configmaps"
    };
    draft.place(&[("v1/secrets", template), (key, template)], None);
    let other = super::objects::object(kind, &name, draft.dice);
    draft.happens(&value);
    let other = draft.arrives(&other);
    if kind == Kind::ConfigMap {
        draft.refuses(&value, RefusalCode::MixedSensitivityNewFile);
        draft.comes(&file, other);
    } else {
        draft.refuses(&other, RefusalCode::MixedSensitivityNewFile);
        draft.turns(&file, After::Sealed(value));
    }
    Some(draft.finish())
}

fn se_3(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.keys = draft.dice.one(&[Keys::Both, Keys::Fingerprint]);
    let value = secret(&mut draft);
    let wanted = changed(&value, draft.dice)?;
    let file = put_sealed(&mut draft, &value);
    draft.happens(&wanted);
    draft.turns(&file, After::Sealed(wanted));
    Some(draft.finish())
}

fn se_4(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.keys = draft.dice.one(&[Keys::Both, Keys::Fingerprint]);
    let value = secret(&mut draft);
    put_sealed(&mut draft, &value);
    draft.happens(&value);
    Some(draft.finish())
}

fn se_6(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.keys = Keys::Both;
    let (value, still) = (secret(&mut draft), secret(&mut draft));
    let wanted = changed(&value, draft.dice)?;
    let file = put_sealed(&mut draft, &value);
    put_sealed(&mut draft, &still);
    draft.surroundings();
    let plain = draft.object(Kind::ConfigMap);
    let edited = Tweak::DataAdd.apply(&plain, draft.dice)?;
    let at = draft.put_anywhere(plain);
    draft.happens(&wanted);
    draft.happens(&still);
    draft.edit(&at, edited);
    draft.turns(&file, After::Sealed(wanted));
    Some(draft.finish())
}

fn se_7(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.keys = Keys::Both;
    let value = secret(&mut draft);
    let wanted = if draft.dice.once_in(2) {
        changed(&value, draft.dice)?
    } else {
        value.clone()
    };
    let at = draft.put_anywhere(value.clone());
    draft.happens(&wanted);
    draft.becomes(&at, Page::Removed(at.index, id_of(&value)));
    draft.turns(&built_in(&wanted), After::Sealed(wanted));
    Some(draft.finish())
}

fn se_8(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.keys = Keys::Both;
    draft.policy.bootstrap = true;
    let value = secret(&mut draft);
    draft.happens(&value);
    let own = draft.dice.once_in(2);
    if own {
        let text = format!(
            "creation_rules: # ours\n  - encrypted_regex: ^(data|stringData)$\n    age: {}\n",
            recipient()
        );
        draft.file(".sops.yaml", &text);
    } else {
        draft.turns(&path(".sops.yaml"), After::There);
    }
    if draft.dice.once_in(2) {
        let file = draft.path();
        draft.bystanders(&file, 1);
    } else if !own {
        // Only a folder that is empty gets the files that introduce it.
        draft.turns(&path("README.md"), After::There);
        draft.turns(&path(".gittargetignore"), After::There);
    } else {
        return None;
    }
    draft.turns(&built_in(&value), After::Sealed(value));
    Some(draft.finish())
}

fn se_9(dice: &mut Dice) -> Option<Case> {
    let mut draft = Draft::new(dice);
    draft.keys = draft.dice.one(&[Keys::Both, Keys::Fingerprint]);
    draft.policy.prune = PruneMode::Always;
    let gone = secret(&mut draft);
    let file = put_sealed(&mut draft, &gone);
    draft.turns(&file, After::Gone);
    if draft.dice.once_in(2) {
        // The name itself is encrypted: nobody can say whose it is.
        let hidden = secret(&mut draft);
        let name = draft.name("hidden");
        let mut text = seal(&id_of(&hidden), &hidden, false, draft.dice.number());
        let plain = id_of(&hidden).name.to_string();
        text = text.replace(
            &format!("  name: {plain}\n"),
            "  name: ENC[AES256_GCM,data:aaaa,iv:aaaa,tag:aaaa,type:str]\n",
        );
        draft.file(&format!("{name}.sops.yaml"), &text);
    }
    if draft.dice.once_in(2) {
        draft.goes(&gone);
    } else {
        let collection = Collection {
            type_id: Kind::Secret.served().type_id,
            scope: Scope::AllNamespaces,
            selector: Selector::everything(),
        };
        draft.intends(Intent::Sweep {
            collection,
            objects: Vec::new(),
            protected: Vec::new(),
        });
    }
    Some(draft.finish())
}
