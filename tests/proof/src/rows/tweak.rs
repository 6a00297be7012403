//! What people and tools change in a cluster: `kubectl set image`, `scale`, `label`, `annotate`, `edit`, `patch`.

use serde_json::{Map, Value, json};

use super::objects::{base64, container, image, number, port, rule, sentence, text, word};
use crate::change::Change;
use crate::dice::Dice;

/// A change of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tweak {
    /// Gives a container another image.
    Image,
    /// Gives a workload another count.
    Replicas,
    /// Sets a label that is there or not.
    Label,
    /// Takes a label out.
    Unlabel,
    /// Sets an annotation, also the first one.
    Annotate,
    /// Takes an annotation out.
    Unannotate,
    /// Changes the value of a key of `data`.
    DataValue,
    /// Adds a key to `data`.
    DataAdd,
    /// Takes a key out of `data`.
    DataRemove,
    /// Sets a variable of a container.
    Variable,
    /// Adds a variable to a container.
    VariableAdd,
    /// Takes a variable out of a container.
    VariableRemove,
    /// Adds a container, a port, a rule, a pull secret: an item of the list that matters.
    ItemAdd,
    /// Takes such an item out.
    ItemRemove,
    /// Changes a field of such an item.
    ItemField,
    /// Puts such items into another order.
    ItemOrder,
    /// Changes a scalar of the kind's own.
    Scalar,
    /// Adds a field to the kind's own.
    Field,
    /// Changes anything in a custom object.
    Anything,
}

impl Tweak {
    /// Every change.
    pub const ALL: [Self; 19] = [
        Self::Image,
        Self::Replicas,
        Self::Label,
        Self::Unlabel,
        Self::Annotate,
        Self::Unannotate,
        Self::DataValue,
        Self::DataAdd,
        Self::DataRemove,
        Self::Variable,
        Self::VariableAdd,
        Self::VariableRemove,
        Self::ItemAdd,
        Self::ItemRemove,
        Self::ItemField,
        Self::ItemOrder,
        Self::Scalar,
        Self::Field,
        Self::Anything,
    ];

    /// Changes an object; `None` where it has no place for the change, or where it comes out as it was.
    pub fn apply(self, value: &Value, dice: &mut Dice) -> Option<Value> {
        let mut changed = value.clone();
        self.change(&mut changed, dice)?;
        (changed != *value).then_some(changed)
    }

    fn change(self, value: &mut Value, dice: &mut Dice) -> Option<()> {
        match self {
            Self::Image => {
                let container = pick(containers(value)?, dice)?;
                *container.get_mut("image")? = image(dice).into();
            }
            Self::Replicas => {
                *value.pointer_mut("/spec/replicas")? = (50 + dice.below(40)).into();
            }
            Self::Label => set_metadata(value, "labels", word(dice), dice)?,
            Self::Annotate => set_metadata(value, "annotations", sentence(dice), dice)?,
            Self::Unlabel => unset_metadata(value, "labels", dice)?,
            Self::Unannotate => unset_metadata(value, "annotations", dice)?,
            Self::DataValue => {
                let secret = is_secret(value);
                let data = value.get_mut("data")?.as_object_mut()?;
                let key = some_key(data, dice)?;
                data[&key] = if secret {
                    base64(dice).into()
                } else {
                    text(dice)
                };
            }
            Self::DataAdd => {
                let secret = is_secret(value);
                let new = if secret {
                    base64(dice).into()
                } else {
                    text(dice)
                };
                let data = value.get_mut("data")?.as_object_mut()?;
                data.insert(format!("added-{}", dice.below(1000)), new);
            }
            Self::DataRemove => {
                let data = value.get_mut("data")?.as_object_mut()?;
                let key = (data.len() > 1).then(|| some_key(data, dice))??;
                data.remove(&key);
            }
            Self::Variable => {
                let variable = pick(variables(value, dice)?, dice)?;
                *variable.get_mut("value")? = text(dice);
            }
            Self::VariableAdd => {
                let new =
                    json!({"name": format!("ADDED_{}", dice.below(1000)), "value": text(dice)});
                insert(variables(value, dice)?, new, dice);
            }
            Self::VariableRemove => {
                let variables = variables(value, dice)?;
                (variables.len() > 1).then(|| variables.remove(dice.below(variables.len())))?;
            }
            Self::ItemAdd => {
                let kind = value["kind"].as_str().unwrap_or_default().to_owned();
                let new = new_item(&kind, dice);
                insert(items(value)?, new, dice);
            }
            Self::ItemRemove => {
                let items = items(value)?;
                (items.len() > 1).then(|| items.remove(dice.below(items.len())))?;
            }
            Self::ItemField => change_item(pick(items(value)?, dice)?, dice)?,
            Self::ItemOrder => {
                let items = items(value)?;
                (items.len() > 1).then(|| items.rotate_left(1))?;
            }
            Self::Scalar => change_scalar(value, dice)?,
            Self::Field => {
                let spec = value.get_mut("spec")?.as_object_mut()?;
                spec.insert(format!("added{}", dice.below(1000)), sentence(dice).into());
            }
            Self::Anything => return change_anything(value, dice),
        }
        Some(())
    }
}

/// Changes an object in one to three ways.
pub fn some(value: &Value, dice: &mut Dice) -> Option<Value> {
    let mut changed = value.clone();
    let mut left = 1 + dice.below(3);
    for _ in 0..60 {
        if let Some(next) = dice.one(&Tweak::ALL).apply(&changed, dice) {
            changed = next;
            left -= 1;
        }
        if left == 0 {
            return (changed != *value).then_some(changed);
        }
    }
    None
}

fn is_secret(value: &Value) -> bool {
    value["kind"]
        .as_str()
        .is_some_and(|kind| kind.ends_with("Secret"))
}

fn pick<'v>(items: &'v mut [Value], dice: &mut Dice) -> Option<&'v mut Value> {
    let at = dice.below(items.len());
    items.get_mut(at)
}

fn insert(items: &mut Vec<Value>, new: Value, dice: &mut Dice) {
    let at = dice.below(items.len() + 1);
    items.insert(at, new);
}

fn some_key(map: &Map<String, Value>, dice: &mut Dice) -> Option<String> {
    let keys: Vec<&String> = map.keys().collect();
    dice.pick(&keys).map(|key| (*key).clone())
}

fn containers(value: &mut Value) -> Option<&mut Vec<Value>> {
    let at = match value["kind"].as_str()? {
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicationController" | "Rollout" => {
            "/spec/template/spec/containers"
        }
        "CronJob" => "/spec/jobTemplate/spec/template/spec/containers",
        _ => return None,
    };
    value.pointer_mut(at)?.as_array_mut()
}

fn variables<'v>(value: &'v mut Value, dice: &mut Dice) -> Option<&'v mut Vec<Value>> {
    pick(containers(value)?, dice)?
        .get_mut("env")?
        .as_array_mut()
}

/// Returns the list that matters most for the kind.
fn items(value: &mut Value) -> Option<&mut Vec<Value>> {
    let at = match value["kind"].as_str()? {
        "Service" => "/spec/ports",
        "ServiceAccount" => "/imagePullSecrets",
        "Ingress" => "/spec/rules",
        "ClusterRole" => "/rules",
        "Widget" | "Zone" => "/spec/parts",
        _ => return containers(value),
    };
    value.pointer_mut(at)?.as_array_mut()
}

fn new_item(kind: &str, dice: &mut Dice) -> Value {
    let name = word(dice);
    match kind {
        "Service" => port(&name, dice),
        "ServiceAccount" => json!({"name": name}),
        "Ingress" => rule(dice),
        "ClusterRole" => json!({"apiGroups": [""], "resources": [name], "verbs": ["get"]}),
        "Widget" | "Zone" => json!({"name": name, "weight": number(dice)}),
        _ => container(&name, dice),
    }
}

fn change_item(item: &mut Value, dice: &mut Dice) -> Option<()> {
    let map = item.as_object_mut()?;
    let (key, new) = if map.contains_key("targetPort") {
        ("targetPort", json!(30_001 + dice.below(30_000)))
    } else if map.contains_key("host") {
        ("host", json!(format!("{}.example.org", word(dice))))
    } else if map.contains_key("verbs") {
        ("verbs", json!(["get", word(dice)]))
    } else if map.contains_key("weight") {
        ("weight", json!(number(dice)))
    } else if map.contains_key("args") {
        ("args", json!([word(dice), word(dice)]))
    } else {
        ("name", json!(word(dice)))
    };
    map.insert(key.to_owned(), new);
    Some(())
}

fn change_scalar(value: &mut Value, dice: &mut Dice) -> Option<()> {
    let (at, new) = match value["kind"].as_str()? {
        "CronJob" => (
            "/spec/schedule",
            json!(format!("{} 3 * * *", dice.below(60))),
        ),
        "Ingress" => ("/spec/ingressClassName", json!(word(dice))),
        "Service" => ("/spec/selector/app", json!(word(dice))),
        "ServiceAccount" => ("/automountServiceAccountToken", json!(dice.once_in(2))),
        "Deployment" => ("/spec/template/spec/serviceAccountName", json!(word(dice))),
        "Widget" | "Zone" => match dice.below(3) {
            0 => ("/spec/title", text(dice)),
            1 => ("/spec/deep/er/mode", json!(number(dice))),
            _ => ("/spec/enabled", json!(dice.once_in(2))),
        },
        _ => return None,
    };
    *value.pointer_mut(at)? = new;
    Some(())
}

/// Changes a custom object at any place. What means nothing to a server, such as null or an empty list, is no
/// change that somebody can make.
fn change_anything(value: &mut Value, dice: &mut Dice) -> Option<()> {
    if !matches!(value["kind"].as_str()?, "Widget" | "Zone") {
        return None;
    }
    let changed = dice.one(&Change::ALL).apply(value.get("spec")?, dice)?;
    let means_something = changed.as_object().is_some_and(|spec| !spec.is_empty());
    if !means_something || holds_nothing(&changed) {
        return None;
    }
    value["spec"] = changed;
    Some(())
}

fn holds_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty() || items.iter().any(holds_nothing),
        Value::Object(map) => map.is_empty() || map.values().any(holds_nothing),
        _ => false,
    }
}

fn set_metadata(value: &mut Value, map: &str, new: String, dice: &mut Dice) -> Option<()> {
    let metadata = value.get_mut("metadata")?.as_object_mut()?;
    let held = metadata.entry(map).or_insert_with(|| json!({}));
    let held = held.as_object_mut()?;
    let key = match some_key(held, dice) {
        Some(key) if dice.once_in(2) => key,
        _ => format!("example.com/added-{}", dice.below(1000)),
    };
    held.insert(key, new.into());
    Some(())
}

fn unset_metadata(value: &mut Value, map: &str, dice: &mut Dice) -> Option<()> {
    let metadata = value.get_mut("metadata")?.as_object_mut()?;
    let held = metadata.get_mut(map)?.as_object_mut()?;
    let key = some_key(held, dice)?;
    held.remove(&key);
    if held.is_empty() {
        metadata.remove(map);
    }
    Some(())
}
