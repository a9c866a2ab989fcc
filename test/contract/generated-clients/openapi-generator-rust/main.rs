//! Registers a member, makes a credential, opens a case and reads the updates.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use client::apis::configuration::Configuration;
use client::apis::{cases_api, credentials_api, membership_api, updates_api, Error};
use client::models::case_request::{PolicyVersion, Visibility};
use client::models::{CaseRequest, CredentialRequest, MemberRequest, Problem, Scope};
use serde_json::json;
use uuid::Uuid;

fn new_key() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

fn new_idempotency_key() -> String {
    Uuid::new_v4().to_string()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let base_url = std::env::args().nth(1).ok_or("program BASE_URL")?;
    let anonymous = Configuration { base_path: base_url.clone(), ..Configuration::default() };

    let member_id = Uuid::new_v4();
    let sign_in_key = new_key();
    let handle = format!("generated_{}", &member_id.to_string()[..8]);
    let registered = membership_api::membership_register(
        &anonymous,
        &base_url,
        MemberRequest::new(member_id, handle, sign_in_key.clone(), new_key()),
        None,
    )
    .await?;

    let credential_id = Uuid::new_v4();
    let credential_secret = new_key();
    let expires_at = SystemTime::now().duration_since(UNIX_EPOCH)? + Duration::from_secs(3600);
    let created = credentials_api::credential_bootstrap(
        &anonymous,
        &new_idempotency_key(),
        CredentialRequest::new(
            member_id,
            sign_in_key,
            credential_id,
            credential_secret.clone(),
            vec![Scope::CaseColonCreate, Scope::UpdatesColonRead],
            expires_at.as_secs().try_into()?,
        ),
    )
    .await?;

    let member = Configuration {
        bearer_access_token: Some(format!("svc_{credential_id}.{credential_secret}")),
        ..anonymous.clone()
    };
    let opened = cases_api::case_create(
        &member,
        &new_idempotency_key(),
        CaseRequest {
            artifact_id: Some(None),
            ..CaseRequest::new(
                "Generated".into(),
                "Opened by a generated client".into(),
                "Show that the document describes the service".into(),
                vec!["The program ends without an error".into()],
                Visibility::Public,
                true,
                PolicyVersion::ServicePublicV1,
            )
        },
    )
    .await?;
    let read = cases_api::case_read(&anonymous, &opened.case.id.to_string(), None).await?;
    let updates = updates_api::updates_list(&member, None, None, None, Some(10), None).await?;
    let events: Vec<_> = updates.events.iter().map(|event| &event.r#type).collect();
    let missing = cases_api::case_read(&anonymous, &Uuid::new_v4().to_string(), None).await;
    let error = match missing {
        Err(Error::ResponseError(answer)) => {
            serde_json::from_str::<Problem>(&answer.content)?.error.code
        }
        other => return Err(format!("expected a refusal, not {other:?}").into()),
    };

    println!(
        "{}",
        json!({
            "handle": registered.member.handle,
            "scopes": created.credential.scopes,
            "title": read.case.title,
            "events": events,
            "error": error,
        })
    );
    Ok(())
}
