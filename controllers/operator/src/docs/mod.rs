//! Pages of the reference that are printed from the program, so that they cannot say anything else.

mod flags;
mod metrics;

pub use flags::flags;
pub use metrics::metrics;

/// Escapes what would end a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::command;

    #[test]
    fn every_flag_and_its_default_stand_on_the_page() {
        let page = flags();
        for argument in command()
            .get_arguments()
            .filter(|argument| argument.get_help_heading().is_some())
        {
            let name = argument.get_long().expect("every flag has a long name");
            assert!(page.contains(&format!("| `--{name}=")), "{name}");
            assert!(argument.get_help().is_some(), "{name} is not described");
        }
        assert!(page.contains("`8Mi`") && page.contains("REDIS_PASSWORD"));
    }

    #[test]
    fn every_family_stands_on_the_page() {
        let page = metrics().unwrap();
        assert!(
            page.contains("| `gitopsreverser_build_info` | gauge | `version`, `commit` |"),
            "{page}"
        );
    }
}
