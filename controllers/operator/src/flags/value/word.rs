//! Booleans, names and other short values.

use model::{Namespace, ObjectName};

use super::Disallowed;

/// Reads a boolean in any spelling that Go's flag package reads.
///
/// # Errors
/// Returns what is legal when the text is no boolean.
pub fn go_bool(text: &str) -> Result<bool, Disallowed> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(Disallowed::but("true or false")),
    }
}

/// Reads a whole number above zero.
///
/// # Errors
/// Returns what is legal when the text is no such number.
pub fn positive_count(text: &str) -> Result<u32, Disallowed> {
    match text.parse::<u32>() {
        Ok(count) if count > 0 => Ok(count),
        Ok(_) | Err(_) => Err(Disallowed::but(format!(
            "a whole number from 1 to {}",
            u32::MAX
        ))),
    }
}

/// Reads the number of a logical Redis database.
///
/// # Errors
/// Returns what is legal when the text is no such number.
pub fn database_number(text: &str) -> Result<u16, Disallowed> {
    let number = text.parse();
    number.map_err(|_| Disallowed::but("the number of a database, such as 0"))
}

/// Reads any text, without the spaces around it.
///
/// # Errors
/// Never; the form is that of the other readers.
pub fn trimmed(text: &str) -> Result<String, Disallowed> {
    Ok(text.trim().to_owned())
}

/// Reads the name of an object, or nothing.
///
/// # Errors
/// Returns what is legal when the text cannot name an object.
pub fn name_or_empty(text: &str) -> Result<String, Disallowed> {
    if text.is_empty() || ObjectName::new(text).is_ok() {
        Ok(text.to_owned())
    } else {
        Err(Disallowed::but("the name of an object, or nothing"))
    }
}

/// Reads `HOST:PORT`, or nothing for "no Redis".
///
/// # Errors
/// Returns what is legal when the text has another form; a credential belongs in the environment.
pub fn redis_address(text: &str) -> Result<String, Disallowed> {
    let text = text.trim();
    let port = text
        .rsplit_once(':')
        .map(|(host, port)| (host, port.parse::<u16>()));
    let legal = |c: char| !c.is_whitespace() && !"/@".contains(c);
    match port {
        _ if text.is_empty() => Ok(String::new()),
        Some((host, Ok(_))) if !host.is_empty() && host.chars().all(legal) => Ok(text.to_owned()),
        _ => Err(Disallowed::but(
            "HOST:PORT without scheme and credential (the password comes from REDIS_PASSWORD), or nothing",
        )),
    }
}

/// Reads the prefix of every Redis key.
///
/// # Errors
/// Returns what is legal when a character is not.
pub fn redis_key_prefix(text: &str) -> Result<String, Disallowed> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    if !text.is_empty() && text.chars().all(legal) {
        Ok(text.to_owned())
    } else {
        Err(Disallowed::but("one or more of A-Z a-z 0-9 . _ : -"))
    }
}

/// The Service through which the API server reaches the extension API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceReference {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name.
    pub name: ObjectName,
    /// Its port.
    pub port: u16,
}

/// Reads `NAMESPACE/NAME` with an optional `:PORT`, which is 443 otherwise.
///
/// # Errors
/// Returns what is legal when the text has another form.
pub fn service_reference(text: &str) -> Result<ServiceReference, Disallowed> {
    parse_service(text).ok_or_else(|| Disallowed::but("NAMESPACE/NAME or NAMESPACE/NAME:PORT"))
}

fn parse_service(text: &str) -> Option<ServiceReference> {
    let (namespace, rest) = text.split_once('/')?;
    let (name, port) = match rest.split_once(':') {
        Some((name, port)) => (name, port.parse().ok().filter(|port| *port > 0)?),
        None => (rest, 443),
    };
    // A Service's name is a DNS label, which is what a namespace's name is too.
    Namespace::new(name).ok()?;
    Some(ServiceReference {
        namespace: Namespace::new(namespace).ok()?,
        name: ObjectName::new(name).ok()?,
        port,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_have_the_spellings_of_go() {
        for text in ["1", "t", "T", "true", "TRUE", "True"] {
            assert_eq!(go_bool(text), Ok(true));
        }
        for text in ["0", "f", "F", "false", "FALSE", "False"] {
            assert_eq!(go_bool(text), Ok(false));
        }
        for text in ["", "yes", "tRuE", "on"] {
            assert!(go_bool(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_service_has_a_port_of_443_unless_it_says_otherwise() {
        let service = service_reference("ns/api").unwrap();
        assert_eq!((service.name.as_str(), service.port), ("api", 443));
        assert_eq!(service_reference("ns/api:10250").unwrap().port, 10250);
        for text in [
            "api", "ns/", "/api", "ns/api:", "ns/api:0", "ns/a/b", "ns/A",
        ] {
            assert!(service_reference(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_redis_address_holds_no_credential() {
        assert_eq!(redis_address(" valkey:6379 "), Ok("valkey:6379".to_owned()));
        assert_eq!(redis_address(""), Ok(String::new()));
        for text in [
            "valkey",
            "redis://valkey:6379",
            "u:p@valkey:6379",
            ":6379",
            "valkey:x",
        ] {
            assert!(redis_address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_prefix_has_few_characters_and_is_not_empty() {
        assert!(redis_key_prefix("team.a:reverser_1-x").is_ok());
        for text in ["", "a b", "a/b", "ä"] {
            assert!(redis_key_prefix(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_above_zero() {
        assert_eq!(positive_count("7"), Ok(7));
        for text in ["0", "-1", "x", "", "4294967296"] {
            assert!(positive_count(text).is_err(), "{text}");
        }
    }
}
