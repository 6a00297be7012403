use super::*;

fn generated(passphrase: Option<&str>) -> NewSigningKey {
    let passphrase = passphrase.map(|text| Secret::new(text.to_owned()));
    SigningKey::generate(&mut rand::rng(), passphrase.as_ref()).unwrap()
}

fn read(text: &str, passphrase: Option<&str>) -> Result<SigningKey, SigningKeyError> {
    let passphrase = passphrase.map(|text| Secret::new(text.to_owned()));
    SigningKey::read(&Secret::new(text.to_owned()), passphrase.as_ref())
}

#[test]
fn a_new_key_reads_back_from_its_text_alone() {
    let made = generated(None);
    let again = read(made.pem.expose(), Some("needed by nobody")).unwrap();
    assert_eq!(again.public_key(), made.key.public_key());
    assert_eq!(again.sign(b"x").unwrap(), made.key.sign(b"x").unwrap());
    assert!(made.key.public_key().starts_with("ssh-ed25519 AAAA"));
    assert_eq!(made.key.public_key().split(' ').count(), 2, "no comment");
}

#[test]
fn a_new_key_with_a_passphrase_is_opened_by_nothing_else() {
    let made = generated(Some("open sesame"));
    let text = made.pem.expose();
    assert!(read(text, Some("open sesame")).is_ok());
    for (passphrase, fault) in [
        (None, SigningKeyError::NeedsPassphrase),
        (Some(""), SigningKeyError::NeedsPassphrase),
        (Some("open"), SigningKeyError::WrongPassphrase),
    ] {
        assert_eq!(read(text, passphrase).unwrap_err(), fault);
    }
}

#[test]
fn lines_may_be_broken_and_ended_in_any_way() {
    let made = generated(None);
    let text = made.pem.expose();
    let dos = text.replace('\n', "\r\n");
    let spaced = format!("\n  {}\n\n", text.replace('\n', " \n "));
    let mut lines: Vec<&str> = text.lines().collect();
    let end = lines.pop().unwrap();
    let one_line = format!("{}\n{}\n{end}", lines[0], lines[1..].concat());
    for text in [dos, spaced, one_line, text.trim_end().to_owned()] {
        assert_eq!(
            read(&text, None).unwrap().public_key(),
            made.key.public_key()
        );
    }
}

#[test]
fn what_is_no_key_is_refused_without_being_shown() {
    let made = generated(None);
    let cut = made.pem.expose()[..200].to_owned();
    let public = made.key.public_key();
    for text in ["", "hunter2", cut.as_str(), public.as_str()] {
        let fault = read(text, None).unwrap_err();
        assert_eq!(fault, SigningKeyError::Unreadable);
        assert!(!fault.to_string().contains("hunter2"));
    }
}

#[test]
fn neither_half_of_a_debug_text_shows_the_key() {
    let made = generated(None);
    let shown = format!("{made:?}");
    let secret = made.pem.expose().lines().nth(3).unwrap();
    assert!(
        !shown.contains(secret) && shown.contains("ssh-ed25519"),
        "{shown}"
    );
}
