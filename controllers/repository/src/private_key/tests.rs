use super::*;

/// A key whose passphrase takes four thousand million rounds to try.
const SLOW: &str = "-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABBB0S8b9c
Yxa3N6Nu2v0n2V/////wAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIBuItVXpmnd6Sb/U
52wX1KeLWcuUa6+GFUtHKUQQRzTlAAAAkLhCDldrD8JgDABjY8JNwZ15dRKSp0Ru2BEfPZ
+h56g96KfH3xUmVo2ufX1HsAIrfyKgMeWUc3Ag1m+QJz6PVANsBsFPI2wRJ6wAamkRqLlo
zF4gBE2xCdYLAw8I5XrPTiVLpKaxRqgYS+lkQp0+k69K9qTsIqJuxOpUzj0+ey6lNzcoG0
0nslu+h18wsF9UYw==
-----END OPENSSH PRIVATE KEY-----
";

/// The same in PKCS#8: 16,777,215 rounds of PBKDF2.
const SLOW_PKCS8: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGdMFkGCSqGSIb3DQEFDTBMMCsGCSqGSIb3DQEFDDAeBAgjTwKhnsDExAIEAP//
/zAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQbg7fV/8wgTNAEAh/31T1YARA
9axTT+BERkl+B0NNdE3KcR73JznQzy99i5NkeKnjadcnnXBsYjP0tcRlbqQMZeoP
FtTyoF1Is9g9uerxmFFmbw==
-----END ENCRYPTED PRIVATE KEY-----
";

const PLAIN: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIKsaE6nB/dsPJAXSHrhMcDmATB+pcGye+eZ1nYoq9Gi3
-----END PRIVATE KEY-----
";

#[test]
fn a_key_that_is_made_to_be_slow_is_not_tried() {
    for slow in [SLOW, SLOW_PKCS8] {
        assert_eq!(read(slow, Some("phrase")), Err(KeyProblem::TooSlow));
        let phrase = model::Secret::new("phrase".to_owned());
        let slow = model::Secret::new(slow.to_owned());
        assert_eq!(
            crate::SigningKey::read(&slow, Some(&phrase)).unwrap_err(),
            crate::SigningKeyError::TooSlow
        );
    }
}

#[test]
fn nothing_around_a_slow_key_hides_it() {
    let body: String = SLOW_PKCS8
        .lines()
        .filter(|line| !line.starts_with('-'))
        .collect();
    let other_name = SLOW_PKCS8.replace("ENCRYPTED PRIVATE KEY", "PRIVATE KEY");
    let one_line = format!(
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n{body}\n-----END ENCRYPTED PRIVATE KEY-----"
    );
    let decoy = format!("x-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n{SLOW_PKCS8}");
    let after_another = format!("# a note\n{SLOW_PKCS8}{PLAIN}");
    let wrapped: String = {
        let body: Vec<&str> = SLOW.lines().filter(|line| !line.starts_with('-')).collect();
        format!(
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----",
            body.concat()
        )
    };
    for text in [other_name, one_line, decoy, after_another, wrapped] {
        assert_eq!(
            read(&text, Some("phrase")),
            Err(KeyProblem::TooSlow),
            "{text}"
        );
    }
}

#[test]
fn what_other_decoders_would_skip_is_no_key() {
    let commented = SLOW_PKCS8.replacen('\n', "\nComment: x\n", 1);
    let ended = SLOW_PKCS8.replacen('\n', "\n-----END X-----\n", 1);
    let putty = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: aes256-cbc\nComment: -----BEGIN ENCRYPTED PRIVATE KEY-----\n";
    let torn = SLOW_PKCS8.split_once("-----END").unwrap().0;
    for text in [commented.as_str(), &ended, putty, torn, ""] {
        assert_eq!(
            read(text, Some("phrase")),
            Err(KeyProblem::Unreadable),
            "{text}"
        );
    }
}

#[test]
fn space_and_a_passphrase_too_many_do_no_harm() {
    let indented: String = PLAIN
        .lines()
        .flat_map(|line| ["   ", line, "\r\n\n"])
        .collect();
    let key = read(PLAIN, None).unwrap();
    assert_eq!(read(&indented, Some("not needed")), Ok(key));
}
