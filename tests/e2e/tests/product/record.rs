//! A recorded run, fed to a fresh machine, comes to the same effects.

use std::collections::BTreeMap;

use branch::record::{Line, effects_without_content};
use branch::shell::restart;
use e2e::stage::{Setting, Stage, TEAM};

#[test]
fn the_record_of_a_run_replays_to_the_same_effects() {
    let setting = Setting::default();
    let control_plane = setting.control_plane.clone().start().unwrap();
    let mut stage = Stage::prepare(&setting, control_plane).unwrap();
    stage.apply_mirror(&setting).unwrap();
    let record = stage.logs().join("steps.jsonl");
    stage
        .start_operator_with(&[format!("--record-steps={}", record.display())])
        .unwrap();
    stage.wait_ready("demo").unwrap();
    for round in 0..3 {
        let value = format!("--from-literal=round=value-{round}");
        stage
            .admin
            .run(&[
                "create",
                "configmap",
                &format!("c{round}"),
                "-n",
                TEAM,
                &value,
            ])
            .unwrap();
        stage
            .wait_file(&format!("team-a/configmaps/c{round}.yaml"), |text| {
                text.contains("value-")
            })
            .unwrap();
    }
    stage.stop_operator().unwrap();
    let text = std::fs::read_to_string(&record).unwrap();
    assert!(
        !text.contains("value-1"),
        "the content of objects is left out"
    );
    let mut machines = BTreeMap::new();
    let mut steps = 0;
    for line in text.lines() {
        let line: Line = serde_json::from_str(line).unwrap();
        match line {
            Line::Started { ref identity, .. } => {
                machines.insert(identity.key.to_string(), restart(&line).unwrap());
            }
            Line::Step {
                branch,
                now,
                event,
                effects,
            } => {
                let machine = machines.get_mut(&branch).unwrap();
                let again = effects_without_content(&machine.step(now, event));
                assert_eq!(again, effects, "step {steps} of {branch}");
                steps += 1;
            }
        }
    }
    assert!(steps > 10, "{steps} steps");
}
