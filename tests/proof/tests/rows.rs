//! Every row of the contract of plain folders: right or refused by name, and what the guide promises never refused.
#![allow(
    clippy::print_stdout,
    reason = "a test prints the table that it counted"
)]

use anyhow::Result;
use proof::rows::table::{Effort, run};
use proof::rows::{self, Row};

fn prove(rows: &[Row]) -> Result<()> {
    let table = run(rows, Effort::from_environment()?)?;
    print!("{table}");
    table.assert_nothing_wrong();
    Ok(())
}

#[test]
fn ed_1_an_object_with_a_document_is_edited_in_it() -> Result<()> {
    prove(&rows::editing())
}

#[test]
fn pl_1_a_new_object_gets_the_path_that_the_ladder_gives() -> Result<()> {
    prove(&rows::placing())
}

#[test]
fn pl_7_a_template_gives_the_path_that_it_says() -> Result<()> {
    prove(&rows::templates())
}

#[test]
fn ns_2_documents_carry_their_namespace_as_the_target_says() -> Result<()> {
    prove(&rows::namespaces())
}

#[test]
fn dl_1_documents_go_as_the_prune_mode_says() -> Result<()> {
    prove(&rows::deleting())
}

#[test]
fn md_3_a_file_of_several_documents_is_edited_document_by_document() -> Result<()> {
    prove(&rows::sharing())
}

#[test]
fn rt_1_what_an_applier_fills_in_is_not_overwritten() -> Result<()> {
    prove(&rows::tokens())
}

#[test]
fn se_1_what_is_sensitive_is_encrypted_or_refused() -> Result<()> {
    prove(&rows::sealed_and_new())
}

#[test]
fn se_3_what_is_encrypted_is_written_where_it_is() -> Result<()> {
    prove(&rows::sealed_and_held())
}

#[test]
fn st_1_what_a_person_wrote_stays_as_it_was_written() -> Result<()> {
    prove(&rows::style())
}

#[test]
fn rp_2_what_was_decided_is_done_again_on_a_newer_tip() -> Result<()> {
    prove(&rows::repeating())
}
