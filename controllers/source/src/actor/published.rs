//! What the board is told.

use board::{SourceView, TargetStreams};

use super::state::{State, StreamKey, Target};

/// Returns everything that readers may know. A target whose types are not known yet is left out: nothing can
/// be said about it.
pub(super) fn view(state: &State) -> SourceView {
    let targets = state.targets.iter().filter_map(|(key, target)| {
        let streams = streams(state, target)?;
        Some((key.clone(), streams))
    });
    SourceView {
        api: state.api.clone(),
        targets: targets.collect(),
    }
}

fn streams(state: &State, target: &Target) -> Option<TargetStreams> {
    let plan = target.plan.as_ref()?;
    let streams = plan.collections.keys().map(|collection| {
        let key = StreamKey {
            target: target.declaration.target.clone(),
            collection: collection.clone(),
        };
        let view = state.stream_view(&key, target);
        (collection.clone(), view)
    });
    Some(TargetStreams {
        generation: target.declaration.generation,
        streams: streams.collect(),
        rules: plan.rules.clone(),
    })
}
