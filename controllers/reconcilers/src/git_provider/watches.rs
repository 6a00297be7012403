//! A GitProvider is woken by nothing but itself; its Secret is read on its own interval.

use crds::GitProvider;

use crate::follow::Change;
use crate::place::Place;
use crate::routes::owner_changed;

pub(crate) fn on_self(change: &Change<GitProvider>) -> Option<Place> {
    let object = change.object().filter(|_| owner_changed(change))?;
    Place::of(object.as_ref())
}
