//! Every row of the contract of folders that kustomize builds: built to what is live, or refused and unchanged.
#![allow(
    clippy::print_stdout,
    reason = "a test prints the table that it counted"
)]

use anyhow::Result;
use proof::built::table::run;
use proof::built::{self, Row};
use proof::rows::table::Effort;

fn prove(rows: &[Row]) -> Result<()> {
    let table = run(rows, Effort::from_environment()?)?;
    print!("{table}");
    table.assert_nothing_wrong();
    Ok(())
}

#[test]
fn ov_2_an_image_goes_to_the_entry_that_supplies_it() -> Result<()> {
    prove(&built::images())
}

#[test]
fn ov_2_a_count_goes_to_the_entry_that_supplies_it() -> Result<()> {
    prove(&built::replicas())
}

#[test]
fn cg_1_a_generated_value_goes_to_what_the_generator_reads() -> Result<()> {
    prove(&built::generators())
}

#[test]
fn ro_3_what_is_context_is_never_written() -> Result<()> {
    prove(&built::context())
}

#[test]
fn ns_1_a_namespace_is_written_where_none_is_given() -> Result<()> {
    prove(&built::namespaces())
}

#[test]
fn rg_2_documents_come_and_go_with_the_lists_that_name_them() -> Result<()> {
    prove(&built::listing())
}

#[test]
fn dp_1_what_has_no_document_goes_by_what_makes_it_or_by_a_patch() -> Result<()> {
    prove(&built::absence())
}

#[test]
fn e8_any_change_of_any_folder_is_built_to_what_is_live_or_refused() -> Result<()> {
    prove(&built::mixed())
}
