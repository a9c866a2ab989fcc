# Registers a member, makes a credential, opens a case and reads the updates.
#
# main.rb BASE_URL
require 'client'
require 'json'
require 'securerandom'
require 'uri'

BASE_URL = ARGV.fetch(0)

def new_key
  SecureRandom.hex(32)
end

def new_idempotency_key
  SecureRandom.uuid
end

# A client that sends `bearer`, or none.
def api_client(bearer = nil)
  configuration = Client::Configuration.new
  address = URI(BASE_URL)
  configuration.scheme = address.scheme
  configuration.host = "#{address.host}:#{address.port}"
  configuration.access_token = bearer
  Client::ApiClient.new(configuration)
end

anonymous = api_client

member_id = SecureRandom.uuid
sign_in_key = new_key
registered = Client::MembershipApi.new(anonymous).membership_register(
  BASE_URL,
  Client::MemberRequest.new(
    id: member_id,
    handle: "generated_#{member_id[0, 8]}",
    sign_in_key: sign_in_key,
    recovery_key: new_key
  )
)

credential_id = SecureRandom.uuid
credential_secret = new_key
created = Client::CredentialsApi.new(anonymous).credential_bootstrap(
  new_idempotency_key,
  Client::CredentialRequest.new(
    member_id: member_id,
    sign_in_key: sign_in_key,
    credential_id: credential_id,
    credential_secret: credential_secret,
    scopes: [Client::Scope::CASE_CREATE, Client::Scope::UPDATES_READ],
    expires_at: Time.now.to_i + 3600
  )
)

member = api_client("svc_#{credential_id}.#{credential_secret}")
opened = Client::CasesApi.new(member).case_create(
  new_idempotency_key,
  Client::CaseRequest.new(
    title: 'Generated',
    summary: 'Opened by a generated client',
    objective: 'Show that the document describes the service',
    acceptance_criteria: ['The program ends without an error'],
    artifact_id: nil,
    visibility: 'public',
    publish_consent: true,
    policy_version: 'service-public-v1'
  )
)
cases = Client::CasesApi.new(anonymous)
read = cases.case_read(opened._case.id)
updates = Client::UpdatesApi.new(member).updates_list(limit: 10)
begin
  cases.case_read(SecureRandom.uuid)
rescue Client::ApiError => e
  error = Client::Problem.build_from_hash(JSON.parse(e.response_body, symbolize_names: true)).error.code
end

puts JSON.generate(
  handle: registered.member.handle,
  scopes: created.credential.scopes,
  title: read._case.title,
  events: updates.events.map(&:type),
  error: error
)
