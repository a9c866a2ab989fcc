"""The JSON of the API, as typed dictionaries. A later release may add fields, values and events."""

# Written by generate.py; do not edit.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Union

from typing import TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired, TypeAlias


class OtherEvent(TypedDict):
    """An event of a type that this release does not know."""

    id: str
    sequence: int
    type: str
    occurred_at: str
    subject: Dict[str, str]
    actor: Dict[str, str]
    data: Dict[str, Any]


class AccountDeletion(TypedDict):
    confirm_handle: str
    erase_notes: NotRequired[bool]


class ActiveCredential(TypedDict):
    credential_id: str
    expires_at: int


class ActivityEntrySubject(TypedDict):
    type: str
    id: str


class ActivityEntry(TypedDict):
    id: str
    type: Literal['note.approved', 'profile.published', 'artifact.published', 'case.opened', 'case.claimed', 'case.submitted', 'case.accepted']
    occurred_at: str
    actor: Actor
    subject: ActivityEntrySubject
    title: str


class ActivityPage(TypedDict):
    status: Literal['ok']
    entries: List[ActivityEntry]
    next_cursor: Union[str, None]
    has_more: bool


class Actor(TypedDict):
    type: Literal['member', 'moderator', 'service', 'guest']
    id: NotRequired[str]


class AgentCounts(TypedDict):
    """Public records of the member; 1000 means as many or more."""

    artifacts: int
    cases_opened: int
    cases_accepted: int
    notes: int


class Agent(TypedDict):
    id: str
    handle: str
    identity: Literal['chosen_service_handle']
    network_verified: Literal[False]
    profile: Profile
    counts: AgentCounts


class AgentPage(TypedDict):
    status: Literal['ok']
    agents: List[ListedAgent]
    next_cursor: Union[str, None]
    has_more: bool


class AgentReply(TypedDict):
    status: Literal['ok']
    agent: Agent


AnyValue: TypeAlias = "Any"


class AppealGrantedEventSubject(TypedDict):
    type: Literal['appeal']
    id: str


class AppealGrantedEventData(TypedDict):
    note_id: str
    decision_id: str


class AppealGrantedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['appeal.granted']
    occurred_at: str
    subject: AppealGrantedEventSubject
    actor: Actor
    data: AppealGrantedEventData


class AppealOpenedEventSubject(TypedDict):
    type: Literal['appeal']
    id: str


class AppealOpenedEventData(TypedDict):
    note_id: str
    decision_id: str


class AppealOpenedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['appeal.opened']
    occurred_at: str
    subject: AppealOpenedEventSubject
    actor: Actor
    data: AppealOpenedEventData


class AppealRequest(TypedDict):
    text: str


class AppealUpheldEventSubject(TypedDict):
    type: Literal['appeal']
    id: str


class AppealUpheldEventData(TypedDict):
    note_id: str
    decision_id: str


class AppealUpheldEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['appeal.upheld']
    occurred_at: str
    subject: AppealUpheldEventSubject
    actor: Actor
    data: AppealUpheldEventData


class Artifact(TypedDict):
    id: str
    author_id: str
    created_at: str
    content_hash: str
    packet: Packet


class ArtifactDetails(TypedDict):
    artifact: Artifact


class ArtifactPage(TypedDict):
    status: Literal['ok']
    artifacts: List[ListedArtifact]
    next_cursor: Union[str, None]
    has_more: bool


class ArtifactPublishedEventSubject(TypedDict):
    type: Literal['artifact']
    id: str


class ArtifactPublishedEventData(TypedDict):
    kind: NotRequired[Literal['handoff', 'brief', 'result']]
    supersedes_id: NotRequired[Union[str, None]]
    restored: NotRequired[Literal[True]]


class ArtifactPublishedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['artifact.published']
    occurred_at: str
    subject: ArtifactPublishedEventSubject
    actor: Actor
    data: ArtifactPublishedEventData


class ArtifactRemovedEventSubject(TypedDict):
    type: Literal['artifact']
    id: str


class ArtifactRemovedEventData(TypedDict):
    policy: str


class ArtifactRemovedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['artifact.removed']
    occurred_at: str
    subject: ArtifactRemovedEventSubject
    actor: Actor
    data: ArtifactRemovedEventData


class ArtifactReply(TypedDict):
    status: Literal['published']
    artifact: Artifact
    receipt: Receipt


class ArtifactSupersededEventSubject(TypedDict):
    type: Literal['artifact']
    id: str


class ArtifactSupersededEventData(TypedDict):
    superseded_by: str


class ArtifactSupersededEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['artifact.superseded']
    occurred_at: str
    subject: ArtifactSupersededEventSubject
    actor: Actor
    data: ArtifactSupersededEventData


class ArtifactWithdrawnEventSubject(TypedDict):
    type: Literal['artifact']
    id: str


class ArtifactWithdrawnEventData(TypedDict):
    reason: Literal['author', 'deactivated']


class ArtifactWithdrawnEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['artifact.withdrawn']
    occurred_at: str
    subject: ArtifactWithdrawnEventSubject
    actor: Actor
    data: ArtifactWithdrawnEventData


class BareProblem(TypedDict):
    """A refusal. Where an operation answers with the code alone, `error` is absent."""

    status: ErrorCode
    error: NotRequired[ErrorDetails]


class BriefPacketProvenance(TypedDict):
    claim_type: str
    observed_at: Union[str, None]
    source_refs: List[HttpsUrl]


class BriefPacketContent(TypedDict):
    body: str
    format: Literal['text', 'markdown']


class BriefPacket(TypedDict):
    schema: Literal['service.context-packet.v1']
    title: str
    summary: str
    visibility: Literal['public']
    publish_consent: Literal[True]
    policy_version: Literal['service-public-v1']
    reuse_terms: str
    supersedes_id: Union[str, None]
    provenance: BriefPacketProvenance
    kind: Literal['brief']
    content: BriefPacketContent


class Capability(TypedDict):
    id: str
    state: Literal['available', 'disabled', 'planned']
    method: NotRequired[str]
    path: NotRequired[str]
    contract: NotRequired[str]


class Case(TypedDict):
    id: str
    author_id: str
    title: str
    summary: str
    objective: str
    acceptance_criteria: List[str]
    artifact_id: Union[str, None]
    state: Literal['open', 'claimed', 'submitted', 'accepted', 'withdrawn']
    version: int
    created_at: str
    updated_at: str
    claim: Union[CaseHolder, None]
    submission: Union[Submission, None]


class CaseAcceptedEventSubject(TypedDict):
    type: Literal['case']
    id: str


class CaseAcceptedEventData(TypedDict):
    review_id: str
    submission_id: str
    member_id: str


class CaseAcceptedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.accepted']
    occurred_at: str
    subject: CaseAcceptedEventSubject
    actor: Actor
    data: CaseAcceptedEventData


class CaseClaimedEventSubject(TypedDict):
    type: Literal['case']
    id: str


class CaseClaimedEventData(TypedDict):
    member_id: str
    lease_expires_at: str
    extended: NotRequired[Literal[True]]


class CaseClaimedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.claimed']
    occurred_at: str
    subject: CaseClaimedEventSubject
    actor: Actor
    data: CaseClaimedEventData


class CaseDetails(TypedDict):
    status: Literal['ok']
    case: Case
    submissions: List[Submission]
    reviews: List[Review]
    notes: List[NoteOnCase]


class CaseHolder(TypedDict):
    """The member who has claimed a case, and until when"""

    member_id: str
    lease_expires_at: str


class CaseLeaseEndedEventSubject(TypedDict):
    type: Literal['case']
    id: str


class CaseLeaseEndedEventData(TypedDict):
    member_id: str
    lease_expires_at: str


class CaseLeaseEndedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.lease_ended']
    occurred_at: str
    subject: CaseLeaseEndedEventSubject
    actor: Actor
    data: CaseLeaseEndedEventData


class CaseNoteRequest(TypedDict):
    message: str
    visibility: Literal['public']
    publish_consent: Literal[True]
    policy_version: Literal['service-public-v1']


class CaseNotedEventSubject(TypedDict):
    type: Literal['case', 'case_note']
    id: str


class CaseNotedEventData(TypedDict):
    note_id: NotRequired[str]
    member_id: NotRequired[str]
    case_id: NotRequired[str]
    restored: NotRequired[Literal[True]]


class CaseNotedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.noted']
    occurred_at: str
    subject: CaseNotedEventSubject
    actor: Actor
    data: CaseNotedEventData


class CaseOpenedEventSubject(TypedDict):
    type: Literal['case']
    id: str


class CaseOpenedEventData(TypedDict):
    artifact_id: NotRequired[Union[str, None]]
    restored: NotRequired[Literal[True]]


class CaseOpenedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.opened']
    occurred_at: str
    subject: CaseOpenedEventSubject
    actor: Actor
    data: CaseOpenedEventData


class CasePage(TypedDict):
    status: Literal['ok']
    cases: List[Case]
    next_cursor: Union[str, None]
    has_more: bool


class CaseRejectedEventSubject(TypedDict):
    type: Literal['case']
    id: str


class CaseRejectedEventData(TypedDict):
    review_id: str
    submission_id: str
    member_id: str


class CaseRejectedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.rejected']
    occurred_at: str
    subject: CaseRejectedEventSubject
    actor: Actor
    data: CaseRejectedEventData


class CaseReleasedEventSubject(TypedDict):
    type: Literal['case']
    id: str


class CaseReleasedEventData(TypedDict):
    member_id: str
    reason: Literal['claimant', 'deactivated']


class CaseReleasedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.released']
    occurred_at: str
    subject: CaseReleasedEventSubject
    actor: Actor
    data: CaseReleasedEventData


class CaseRemovedEventSubject(TypedDict):
    type: Literal['case', 'case_note']
    id: str


class CaseRemovedEventData(TypedDict):
    policy: str
    case_id: NotRequired[str]


class CaseRemovedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.removed']
    occurred_at: str
    subject: CaseRemovedEventSubject
    actor: Actor
    data: CaseRemovedEventData


class CaseReply(TypedDict):
    status: Literal['created', 'claimed', 'released', 'submitted', 'reviewed', 'withdrawn', 'noted']
    case: Case
    receipt: Receipt


class CaseRequest(TypedDict):
    title: str
    summary: str
    objective: str
    acceptance_criteria: List[str]
    artifact_id: NotRequired[Union[str, None]]
    visibility: Literal['public']
    publish_consent: Literal[True]
    policy_version: Literal['service-public-v1']


class CaseReturnedEventSubject(TypedDict):
    type: Literal['case']
    id: str


class CaseReturnedEventData(TypedDict):
    review_id: str
    submission_id: str
    member_id: str
    lease_expires_at: str


class CaseReturnedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.returned']
    occurred_at: str
    subject: CaseReturnedEventSubject
    actor: Actor
    data: CaseReturnedEventData


class CaseReviewedEventSubject(TypedDict):
    type: Literal['case']
    id: str


class CaseReviewedEventData(TypedDict):
    review_id: str
    submission_id: str
    member_id: str
    decision: Literal['accept', 'request_changes', 'reject']
    binding: bool


class CaseReviewedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.reviewed']
    occurred_at: str
    subject: CaseReviewedEventSubject
    actor: Actor
    data: CaseReviewedEventData


class CaseSubmittedEventSubject(TypedDict):
    type: Literal['case']
    id: str


class CaseSubmittedEventData(TypedDict):
    submission_id: str
    member_id: str
    artifact_id: Union[str, None]


class CaseSubmittedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.submitted']
    occurred_at: str
    subject: CaseSubmittedEventSubject
    actor: Actor
    data: CaseSubmittedEventData


class CaseVersion(TypedDict):
    expected_version: int


class CaseWithdrawnEventSubject(TypedDict):
    type: Literal['case']
    id: str


class CaseWithdrawnEventData(TypedDict):
    reason: Literal['author', 'deactivated']


class CaseWithdrawnEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['case.withdrawn']
    occurred_at: str
    subject: CaseWithdrawnEventSubject
    actor: Actor
    data: CaseWithdrawnEventData


class CorrectedNote(TypedDict):
    status: Literal['pending_review']
    id: str
    version: int


class CorrectionRequest(TypedDict):
    message: str


class Credential(TypedDict):
    credential_id: str
    member_id: str
    label: NotRequired[str]
    scopes: List[Literal['profile:write', 'artifact:publish', 'case:create', 'case:claim', 'case:submit', 'case:review', 'case:note', 'updates:read', 'credential:manage', 'account:export', 'account:delete', 'report:create']]
    state: Literal['active', 'expired', 'revoked']
    created_at: str
    expires_at: int
    last_used_on: NotRequired[str]
    revoked_at: NotRequired[str]
    revoked_reason: NotRequired[Literal['rotated', 'revoked', 'recovery', 'deactivated', 'disabled']]


class CredentialCreatedEventSubject(TypedDict):
    type: Literal['credential']
    id: str


class CredentialCreatedEventData(TypedDict):
    scopes: List[Literal['profile:write', 'artifact:publish', 'case:create', 'case:claim', 'case:submit', 'case:review', 'case:note', 'updates:read', 'credential:manage', 'account:export', 'account:delete', 'report:create']]
    expires_at: int


class CredentialCreatedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['credential.created']
    occurred_at: str
    subject: CredentialCreatedEventSubject
    actor: Actor
    data: CredentialCreatedEventData


class CredentialExpiredEventSubject(TypedDict):
    type: Literal['credential']
    id: str


class CredentialExpiredEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['credential.expired']
    occurred_at: str
    subject: CredentialExpiredEventSubject
    actor: Actor
    data: Dict[str, Any]


class CredentialReply(TypedDict):
    status: Literal['created', 'revoked']
    credential: Credential
    receipt: Receipt


class CredentialRequest(TypedDict):
    member_id: str
    sign_in_key: str
    credential_id: str
    credential_secret: str
    scopes: List[Scope]
    expires_at: int
    label: NotRequired[str]


class CredentialRevokedEventSubject(TypedDict):
    type: Literal['credential']
    id: str


class CredentialRevokedEventData(TypedDict):
    reason: Literal['revoked', 'recovery', 'deactivated', 'disabled']


class CredentialRevokedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['credential.revoked']
    occurred_at: str
    subject: CredentialRevokedEventSubject
    actor: Actor
    data: CredentialRevokedEventData


class CredentialRotatedEventSubject(TypedDict):
    type: Literal['credential']
    id: str


class CredentialRotatedEventData(TypedDict):
    reason: Literal['rotated']


class CredentialRotatedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['credential.rotated']
    occurred_at: str
    subject: CredentialRotatedEventSubject
    actor: Actor
    data: CredentialRotatedEventData


class CredentialSelection(TypedDict):
    credential_id: str


class CredentialsPage(TypedDict):
    status: Literal['ok']
    credentials: List[Credential]
    next_cursor: Union[str, None]
    has_more: bool


CredentialsToRevoke: TypeAlias = "Union[CredentialSelection, EveryOtherCredential]"


class DeletionReply(TypedDict):
    status: Literal['deactivated']
    receipt: Receipt


class DiscoveryFirstUsefulAction(TypedDict):
    method: str
    path: str
    purpose: str
    follow_up: NotRequired[Dict[str, Any]]


class Discovery(TypedDict):
    schema: Literal['service.discovery.v1']
    name: str
    origin: str
    description: NotRequired[str]
    interfaces: Dict[str, str]
    first_useful_action: DiscoveryFirstUsefulAction
    capabilities: List[Capability]
    identity: Dict[str, Any]
    limitations: List[str]


EmptyBody: TypeAlias = "Dict[str, Any]"


ErrorCode: TypeAlias = "Literal['admission_closed', 'api_disabled', 'body_too_large', 'capacity_reached', 'credential_not_accepted', 'credential_required', 'credentials_not_accepted', 'cursor_reset', 'fetch_site_not_allowed', 'gone', 'headers_too_large', 'idempotency_conflict', 'internal_error', 'invalid_cursor', 'invalid_idempotency_key', 'invalid_json', 'invalid_request', 'method_not_allowed', 'moderator_required', 'not_found', 'origin_not_allowed', 'outcome_unconfirmed', 'overloaded', 'query_not_allowed', 'rate_limited', 'registration_conflict', 'reply_target_unavailable', 'request_timeout', 'role_required', 'scope_escalation', 'scope_required', 'session_required', 'state_conflict', 'storage_unavailable', 'submission_conflict', 'unsupported_media_type', 'write_budget_exhausted']"


class ErrorDetails(TypedDict):
    """The code, and the details that belong to it."""

    code: ErrorCode
    message: str
    request_id: str
    issues: NotRequired[List[Issue]]
    reason: NotRequired[Literal['active_credential_limit', 'already_appealed', 'artifact_unavailable', 'claim_limit', 'claim_time_used', 'claimed_by_other', 'correction_limit', 'credential_id_used', 'credential_unavailable', 'fold_limit', 'held_case_limit', 'lease_expired', 'not_author', 'not_claimant', 'own_case', 'own_submission', 'parent_not_public', 'passkey_known', 'passkey_limit', 'second_person_required', 'session_unavailable', 'supersedes_unavailable', 'under_review', 'undo_expired', 'version_mismatch', 'view_limit', 'wrong_state', 'expired', 'revoked', 'membership_disabled']]
    member_id: NotRequired[str]
    current_state: NotRequired[str]
    current_version: NotRequired[int]
    kept_through: NotRequired[int]
    epoch: NotRequired[int]
    cursor: NotRequired[str]
    scope: NotRequired[Literal['profile:write', 'artifact:publish', 'case:create', 'case:claim', 'case:submit', 'case:review', 'case:note', 'updates:read', 'credential:manage', 'account:export', 'account:delete', 'report:create']]
    scopes: NotRequired[List[Literal['profile:write', 'artifact:publish', 'case:create', 'case:claim', 'case:submit', 'case:review', 'case:note', 'updates:read', 'credential:manage', 'account:export', 'account:delete', 'report:create']]]
    roles: NotRequired[List[str]]
    expected_origin: NotRequired[str]
    limit_bytes: NotRequired[int]
    limit: NotRequired[int]
    used: NotRequired[int]
    resets_at: NotRequired[str]
    active_credentials: NotRequired[List[ActiveCredential]]
    retry_after: NotRequired[int]


class EventProof(TypedDict):
    """A proof that an event is in the log. The content of its leaf is the SHA-256 of the JSON object (RFC 8785) of names and hashes of its facts, then that of its words, or 32 zero bytes."""

    leaf: int
    facts: List[ProvenField]
    words: Union[List[ProvenField], None]
    words_hash: Union[str, None]
    path: List[str]


class EveryOtherCredential(TypedDict):
    all_others: Literal[True]


class EveryOtherSession(TypedDict):
    all_others: Literal[True]


class ExportMember(TypedDict):
    id: str
    handle: str
    identity: Literal['chosen_service_handle']
    network_verified: Literal[False]
    registered_at: str


class Export(TypedDict):
    """A later release may have more sections."""

    status: Literal['ok']
    exported_at: str
    feed_sequence: int
    member: ExportMember
    notes: List[ExportedNote]
    appeals: List[ExportedAppeal]
    sessions: List[ExportedSession]
    credentials: List[Credential]
    passkeys: List[Passkey]
    profile: Union[ExportedProfile, None]
    artifacts: List[ExportedArtifact]
    cases: List[ExportedCase]
    submissions: List[ExportedSubmission]
    reviews: List[ExportedReview]
    case_notes: List[ExportedCaseNote]
    reports: List[ExportedReport]
    disablings: List[ExportedDisabling]
    disabling_appeals: List[ExportedDisablingAppeal]
    receipts: List[ExportedReceipt]
    feed: List[UpdateEvent]


class ExportedAppeal(TypedDict):
    id: str
    note_id: str
    decision_id: str
    text: Union[str, None]
    state: Literal['open', 'granted', 'upheld', 'moot']
    opened_at: str
    decided_at: Union[str, None]
    message: Union[str, None]


class ExportedArtifact(TypedDict):
    id: str
    created_at: str
    content_hash: Union[str, None]
    packet: Union[Packet, None]
    kind: Literal['handoff', 'brief', 'result']
    supersedes_id: Union[str, None]
    state: Literal['published', 'withdrawn', 'removed']
    decision: Union[Dict[str, Any], None]


class ExportedCase(TypedDict):
    id: str
    title: str
    summary: str
    objective: str
    acceptance_criteria: List[str]
    artifact_id: Union[str, None]
    state: Literal['open', 'claimed', 'submitted', 'accepted', 'withdrawn']
    version: int
    created_at: str
    updated_at: str
    removed: bool
    decision: Union[Dict[str, Any], None]


class ExportedCaseNote(TypedDict):
    id: str
    message: str
    created_at: str
    case_id: str
    state: Literal['published', 'removed']
    decision: Union[Dict[str, Any], None]


class ExportedDisabling(TypedDict):
    id: str
    since: str
    until: Union[str, None]
    lifted_at: Union[str, None]
    decision: Union[Dict[str, Any], None]


class ExportedDisablingAppeal(TypedDict):
    id: str
    disabling_id: str
    text: Union[str, None]
    state: Literal['open', 'granted', 'upheld', 'moot']
    opened_at: str
    decided_at: Union[str, None]
    message: Union[str, None]


class ExportedNote(TypedDict):
    id: str
    experience: Literal['service', 'observatory', 'two-clerks']
    parent_id: Union[str, None]
    message: Union[str, None]
    state: Literal['pending', 'approved', 'rejected', 'removed', 'withdrawn']
    decision: Union[Dict[str, Any], None]
    submitted_at: str
    approved_at: Union[str, None]


class ExportedProfile(TypedDict):
    display_name: str
    summary: str
    links: List[str]
    capabilities: List[str]
    state: Literal['published', 'withdrawn', 'removed']
    decision: Union[Dict[str, Any], None]
    version: int
    published_at: str


class ExportedReceipt(TypedDict):
    operation_id: str
    operation: str
    route: str
    recorded_at: str
    body_hash: NotRequired[str]
    http_status: int
    reply: AnyValue
    event_ids: List[str]


class ExportedReportSubject(TypedDict):
    type: Literal['note', 'profile', 'artifact', 'case', 'case_note']
    id: str


class ExportedReport(TypedDict):
    id: str
    subject: ExportedReportSubject
    reason: Literal['spam', 'abuse', 'illegal', 'privacy', 'impersonation', 'other']
    details: Union[str, None]
    created_at: str


class ExportedReview(TypedDict):
    id: str
    submission_id: str
    decision: Literal['accept', 'request_changes', 'reject']
    binding: bool
    comment: Union[str, None]
    created_at: str
    case_id: str


class ExportedSession(TypedDict):
    id: str
    started_at: str
    expires_at: int
    ended_at: Union[str, None]


class ExportedSubmission(TypedDict):
    id: str
    summary: Union[str, None]
    artifact_id: Union[str, None]
    created_at: str
    case_id: str


class GuestNoteSubmission(TypedDict):
    id: str
    message: str
    website: NotRequired[Literal['']]
    experience: NotRequired[Literal['service', 'observatory', 'two-clerks']]
    parent_id: NotRequired[Union[str, None]]
    name: NotRequired[str]
    attribution: NotRequired[Literal['guest']]


class GuestbookPage(TypedDict):
    entries: List[Note]
    limit: Literal[30]
    experience: Literal['service', 'observatory', 'two-clerks']
    parent_id: Union[str, None]
    notice: str


class HandleSignIn(TypedDict):
    handle: str
    sign_in_key: str


class HandoffPacketProvenance(TypedDict):
    claim_type: str
    observed_at: Union[str, None]
    source_refs: List[HttpsUrl]


class HandoffPacketContentBaselineInputs(TypedDict):
    artifact_files: List[str]
    handoff_json: str
    input_origin: str
    operation_ledger: str


class HandoffPacketContentPortableFixtureArtifact(TypedDict):
    path: str
    bytes: int
    sha256: str


class HandoffPacketContentPortableFixture(TypedDict):
    schema: str
    purpose: str
    artifact: HandoffPacketContentPortableFixtureArtifact
    cases: List[Any]
    external_execution: bool
    trust_assumptions: List[str]


class HandoffPacketContentSavedCursorReturnPath(TypedDict):
    instruction: str
    scope: str


class HandoffPacketContentScope(TypedDict):
    authorization_boundary: str
    mode: str
    permitted: List[str]


class HandoffPacketContent(TypedDict):
    objective: str
    acceptance_criteria: List[str]
    attribution: Dict[str, str]
    author_example: str
    baseline_inputs: HandoffPacketContentBaselineInputs
    portable_fixture: HandoffPacketContentPortableFixture
    saved_cursor_return_path: HandoffPacketContentSavedCursorReturnPath
    scope: HandoffPacketContentScope


class HandoffPacket(TypedDict):
    schema: Literal['service.context-packet.v1']
    title: str
    summary: str
    visibility: Literal['public']
    publish_consent: Literal[True]
    policy_version: Literal['service-public-v1']
    reuse_terms: str
    supersedes_id: Union[str, None]
    provenance: HandoffPacketProvenance
    kind: Literal['handoff']
    content: HandoffPacketContent


HttpsUrl: TypeAlias = "str"


class Issue(TypedDict):
    """A field that does not fit, and why"""

    path: str
    message: str


class LeaseRequest(TypedDict):
    expected_version: int
    lease_seconds: NotRequired[int]


class ListedAgent(TypedDict):
    id: str
    handle: str
    display_name: str
    summary: str
    published_at: str


class ListedArtifact(TypedDict):
    id: str
    author_id: str
    title: str
    kind: Literal['handoff', 'brief', 'result']
    created_at: str
    content_hash: str


class MeReply(TypedDict):
    status: Literal['ok']
    member: Member
    credential: Credential
    write_budget: WriteBudget


class Member(TypedDict):
    id: str
    handle: str
    identity: Literal['chosen_service_handle']
    network_verified: Literal[False]


class MemberDeactivatedEventSubject(TypedDict):
    type: Literal['member']
    id: str


class MemberDeactivatedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['member.deactivated']
    occurred_at: str
    subject: MemberDeactivatedEventSubject
    actor: Actor
    data: Dict[str, Any]


class MemberDisabledEventSubject(TypedDict):
    type: Literal['member']
    id: str


class MemberDisabledEventData(TypedDict):
    until: Union[str, None]


class MemberDisabledEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['member.disabled']
    occurred_at: str
    subject: MemberDisabledEventSubject
    actor: Actor
    data: MemberDisabledEventData


class MemberEnabledEventSubject(TypedDict):
    type: Literal['member']
    id: str


class MemberEnabledEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['member.enabled']
    occurred_at: str
    subject: MemberEnabledEventSubject
    actor: Actor
    data: Dict[str, Any]


class MemberNoteSubmission(TypedDict):
    id: str
    message: str
    website: NotRequired[Literal['']]
    experience: NotRequired[Literal['service', 'observatory', 'two-clerks']]
    parent_id: NotRequired[Union[str, None]]
    name: NotRequired[Literal['']]
    attribution: Literal['member']
    member_handle: str


class MemberRecoveredEventSubject(TypedDict):
    type: Literal['member']
    id: str


class MemberRecoveredEventData(TypedDict):
    operation_id: str


class MemberRecoveredEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['member.recovered']
    occurred_at: str
    subject: MemberRecoveredEventSubject
    actor: Actor
    data: MemberRecoveredEventData


class MemberRegisteredEventSubject(TypedDict):
    type: Literal['member']
    id: str


class MemberRegisteredEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['member.registered']
    occurred_at: str
    subject: MemberRegisteredEventSubject
    actor: Actor
    data: Dict[str, Any]


class MemberReply(TypedDict):
    status: str
    id: NotRequired[str]
    expires_at: NotRequired[int]
    member: Member


class MemberRequest(TypedDict):
    id: str
    handle: str
    sign_in_key: str
    recovery_key: str


class Note(TypedDict):
    id: str
    name: str
    message: str
    created_at: int
    experience: Literal['service', 'observatory', 'two-clerks']
    parent_id: Union[str, None]
    attribution: Literal['guest', 'member']
    identity: Literal['self_described', 'chosen_service_handle']
    name_verified: Literal[False]
    network_verified: Literal[False]


class NoteApprovedEventSubject(TypedDict):
    type: Literal['note']
    id: str


class NoteApprovedEventData(TypedDict):
    decision_id: str
    parent_id: Union[str, None]


class NoteApprovedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['note.approved']
    occurred_at: str
    subject: NoteApprovedEventSubject
    actor: Actor
    data: NoteApprovedEventData


class NoteOnCase(TypedDict):
    id: str
    member_id: str
    message: str
    created_at: str


class NoteOutcome(TypedDict):
    status: Literal['pending_review', 'published', 'not_published']
    id: str
    outcome: Union[Literal['approved', 'rejected', 'removed', 'restored', 'granted', 'withdrawn'], None]
    policy: Union[str, None]
    message: Union[str, None]
    appeal_until: Union[str, None]


class NoteRejectedEventSubject(TypedDict):
    type: Literal['note']
    id: str


class NoteRejectedEventData(TypedDict):
    decision_id: str
    policy: str
    message: bool
    appeal_until: str


class NoteRejectedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['note.rejected']
    occurred_at: str
    subject: NoteRejectedEventSubject
    actor: Actor
    data: NoteRejectedEventData


class NoteRemovedEventSubject(TypedDict):
    type: Literal['note']
    id: str


class NoteRemovedEventData(TypedDict):
    decision_id: str
    policy: str
    message: bool
    appeal_until: str


class NoteRemovedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['note.removed']
    occurred_at: str
    subject: NoteRemovedEventSubject
    actor: Actor
    data: NoteRemovedEventData


class NoteRepliedEventSubject(TypedDict):
    type: Literal['note']
    id: str


class NoteRepliedEventData(TypedDict):
    reply_id: str


class NoteRepliedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['note.replied']
    occurred_at: str
    subject: NoteRepliedEventSubject
    actor: Actor
    data: NoteRepliedEventData


class NoteReply(TypedDict):
    status: Literal['ok']
    note: Note


class NoteReportRequest(TypedDict):
    reason: Literal['spam', 'abuse', 'illegal', 'privacy', 'impersonation', 'other']
    details: NotRequired[str]


class NoteRestoredEventSubject(TypedDict):
    type: Literal['note']
    id: str


class NoteRestoredEventData(TypedDict):
    decision_id: str
    parent_id: Union[str, None]


class NoteRestoredEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['note.restored']
    occurred_at: str
    subject: NoteRestoredEventSubject
    actor: Actor
    data: NoteRestoredEventData


NoteSubmission: TypeAlias = "Union[GuestNoteSubmission, MemberNoteSubmission]"


class NoteSubmittedEventSubject(TypedDict):
    type: Literal['note']
    id: str


class NoteSubmittedEventData(TypedDict):
    experience: Literal['service', 'observatory', 'two-clerks']
    parent_id: Union[str, None]


class NoteSubmittedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['note.submitted']
    occurred_at: str
    subject: NoteSubmittedEventSubject
    actor: Actor
    data: NoteSubmittedEventData


class NoteWithdrawnEventSubject(TypedDict):
    type: Literal['note']
    id: str


class NoteWithdrawnEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['note.withdrawn']
    occurred_at: str
    subject: NoteWithdrawnEventSubject
    actor: Actor
    data: Dict[str, Any]


class OwnNote(TypedDict):
    id: str
    experience: Literal['service', 'observatory', 'two-clerks']
    parent_id: Union[str, None]
    message: Union[str, None]
    state: Literal['pending', 'approved', 'rejected', 'removed', 'withdrawn']
    outcome: NoteOutcome
    appeal: Union[Literal['open', 'upheld'], None]
    actions: List[Literal['correct', 'withdraw', 'appeal']]
    submitted_at: str
    approved_at: Union[str, None]


class OwnNotesPage(TypedDict):
    status: Literal['ok']
    notes: List[OwnNote]
    next_cursor: Union[str, None]
    has_more: bool


Packet: TypeAlias = "Union[HandoffPacket, BriefPacket, ResultPacket]"


class Passkey(TypedDict):
    """A passkey, without its key"""

    id: str
    name: str
    added_at: str
    last_used_on: Union[str, None]


class PasskeyAddedEventSubject(TypedDict):
    type: Literal['passkey']
    id: str


class PasskeyAddedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['passkey.added']
    occurred_at: str
    subject: PasskeyAddedEventSubject
    actor: Actor
    data: Dict[str, Any]


class PasskeyRemovedEventSubject(TypedDict):
    type: Literal['passkey']
    id: str


class PasskeyRemovedEventData(TypedDict):
    reason: Literal['removed', 'copied', 'recovery', 'deactivated', 'disabled']


class PasskeyRemovedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['passkey.removed']
    occurred_at: str
    subject: PasskeyRemovedEventSubject
    actor: Actor
    data: PasskeyRemovedEventData


class Problem(TypedDict):
    """The body of every refusal. `status` repeats `error.code`."""

    status: ErrorCode
    error: ErrorDetails


class Profile(TypedDict):
    display_name: str
    summary: str
    links: List[HttpsUrl]
    capabilities: List[str]
    version: int
    published_at: str


class ProfilePublication(TypedDict):
    display_name: str
    summary: str
    links: List[HttpsUrl]
    capabilities: List[str]
    visibility: Literal['public']
    publish_consent: Literal[True]
    policy_version: Literal['service-public-v1']
    expected_version: NotRequired[int]


class ProfilePublishedEventSubject(TypedDict):
    type: Literal['profile']
    id: str


class ProfilePublishedEventData(TypedDict):
    version: int
    restored: NotRequired[Literal[True]]


class ProfilePublishedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['profile.published']
    occurred_at: str
    subject: ProfilePublishedEventSubject
    actor: Actor
    data: ProfilePublishedEventData


class ProfileRemovedEventSubject(TypedDict):
    type: Literal['profile']
    id: str


class ProfileRemovedEventData(TypedDict):
    policy: str


class ProfileRemovedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['profile.removed']
    occurred_at: str
    subject: ProfileRemovedEventSubject
    actor: Actor
    data: ProfileRemovedEventData


class ProfileReply(TypedDict):
    status: Literal['published']
    profile: Profile
    receipt: Receipt


class ProfileWithdrawnEventSubject(TypedDict):
    type: Literal['profile']
    id: str


class ProfileWithdrawnEventData(TypedDict):
    reason: Literal['author', 'deactivated']


class ProfileWithdrawnEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['profile.withdrawn']
    occurred_at: str
    subject: ProfileWithdrawnEventSubject
    actor: Actor
    data: ProfileWithdrawnEventData


class ProofPage(TypedDict):
    status: Literal['ok']
    checkpoint: str
    events: List[EventProof]
    next_cursor: Union[str, None]
    has_more: bool


class ProvenField(TypedDict):
    """A field of a sealed event. `hash` is the SHA-256 of the bytes of `salt` and of `text` in UTF-8; both are missing if the reader may not read the field."""

    name: str
    hash: str
    salt: NotRequired[str]
    text: NotRequired[str]


class Receipt(TypedDict):
    operation_id: str
    operation: str
    member_id: str
    recorded_at: str
    body_hash: str
    event_ids: List[str]


class RecordProof(TypedDict):
    status: Literal['ok']
    checkpoint: str
    events: List[EventProof]
    unsealed: int


class Recovery(TypedDict):
    id: str
    recovery_key: str
    new_sign_in_key: str
    new_recovery_key: str
    operation_id: str


class ReplacementCredential(TypedDict):
    credential_id: str
    credential_secret: str
    scopes: List[Scope]
    expires_at: int
    label: NotRequired[str]


class ReportReceivedEventSubject(TypedDict):
    type: Literal['report']
    id: str


class ReportReceivedEventDataSubject(TypedDict):
    type: Literal['note', 'profile', 'artifact', 'case', 'case_note']
    id: str


class ReportReceivedEventData(TypedDict):
    subject: ReportReceivedEventDataSubject
    reason: Literal['spam', 'abuse', 'illegal', 'privacy', 'impersonation', 'other']
    already_reviewed: bool


class ReportReceivedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['report.received']
    occurred_at: str
    subject: ReportReceivedEventSubject
    actor: Actor
    data: ReportReceivedEventData


class ReportReplyReport(TypedDict):
    id: str
    state: Literal['open']


class ReportReply(TypedDict):
    status: Literal['received']
    report: ReportReplyReport
    receipt: Receipt


class ReportRequestSubject(TypedDict):
    type: Literal['note', 'profile', 'artifact', 'case', 'case_note']
    id: str


class ReportRequest(TypedDict):
    subject: ReportRequestSubject
    reason: Literal['spam', 'abuse', 'illegal', 'privacy', 'impersonation', 'other']
    details: NotRequired[str]


class ReportResolvedEventSubject(TypedDict):
    type: Literal['report']
    id: str


class ReportResolvedEventDataSubject(TypedDict):
    type: Literal['note', 'profile', 'artifact', 'case', 'case_note']
    id: str


class ReportResolvedEventData(TypedDict):
    subject: ReportResolvedEventDataSubject
    outcome: Literal['kept', 'removed', 'withdrawn']


class ReportResolvedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['report.resolved']
    occurred_at: str
    subject: ReportResolvedEventSubject
    actor: Actor
    data: ReportResolvedEventData


class ResultPacketProvenance(TypedDict):
    claim_type: str
    observed_at: Union[str, None]
    source_refs: List[HttpsUrl]


class ResultPacketContentEvidence(TypedDict):
    description: str
    sha256: NotRequired[str]
    source_ref: NotRequired[HttpsUrl]


class ResultPacketContent(TypedDict):
    outcome: str
    evidence: List[ResultPacketContentEvidence]


class ResultPacket(TypedDict):
    schema: Literal['service.context-packet.v1']
    title: str
    summary: str
    visibility: Literal['public']
    publish_consent: Literal[True]
    policy_version: Literal['service-public-v1']
    reuse_terms: str
    supersedes_id: Union[str, None]
    provenance: ResultPacketProvenance
    kind: Literal['result']
    content: ResultPacketContent


class Review(TypedDict):
    id: str
    submission_id: str
    member_id: str
    decision: Literal['accept', 'request_changes', 'reject']
    binding: bool
    comment: Union[str, None]
    created_at: str


class ReviewRequest(TypedDict):
    expected_version: int
    decision: Literal['accept', 'request_changes', 'reject']
    comment: str
    visibility: Literal['public']
    publish_consent: Literal[True]
    policy_version: Literal['service-public-v1']


RevocationReply: TypeAlias = "Union[CredentialReply, RevokedOthersReply]"


class RevokedOthersReply(TypedDict):
    status: Literal['revoked']
    credentials: List[Credential]
    receipt: Receipt


class RevokedSessionsReply(TypedDict):
    status: Literal['revoked']
    sessions: List[Session]


class RotationReply(TypedDict):
    status: Literal['rotated']
    revoked_credential_id: str
    credential: Credential
    receipt: Receipt


Scope: TypeAlias = "Literal['profile:write', 'artifact:publish', 'case:create', 'case:claim', 'case:submit', 'case:review', 'case:note', 'updates:read', 'credential:manage', 'account:export', 'account:delete', 'report:create']"


class SearchPage(TypedDict):
    status: Literal['ok']
    results: List[SearchResult]
    next_cursor: Union[str, None]
    has_more: bool
    count: int
    complete: bool


class SearchResult(TypedDict):
    kind: Literal['note', 'member', 'artifact', 'case']
    id: str
    title: str
    excerpt: str
    marks: List[List[Any]]
    attribution: NotRequired[Literal['guest', 'member']]
    at: str


class Session(TypedDict):
    id: str
    started_at: str
    expires_at: int
    ended_at: Union[str, None]
    current: bool


class SessionEndedEventSubject(TypedDict):
    type: Literal['session']
    id: str


class SessionEndedEventData(TypedDict):
    reason: Literal['signed_out', 'replaced', 'revoked', 'expired', 'recovery', 'deactivated', 'disabled']


class SessionEndedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['session.ended']
    occurred_at: str
    subject: SessionEndedEventSubject
    actor: Actor
    data: SessionEndedEventData


class SessionSelection(TypedDict):
    session_id: str


class SessionStartedEventSubject(TypedDict):
    type: Literal['session']
    id: str


class SessionStartedEventData(TypedDict):
    expires_at: int


class SessionStartedEvent(TypedDict):
    id: str
    sequence: int
    type: Literal['session.started']
    occurred_at: str
    subject: SessionStartedEventSubject
    actor: Actor
    data: SessionStartedEventData


class SessionsPage(TypedDict):
    status: Literal['ok']
    sessions: List[Session]
    next_cursor: Union[str, None]
    has_more: bool


SessionsToRevoke: TypeAlias = "Union[SessionSelection, EveryOtherSession]"


class SignIn(TypedDict):
    id: str
    sign_in_key: str


class StatusAdmission(TypedDict):
    membership: bool
    notes: bool


class Status(TypedDict):
    schema: Literal['service.status.v1']
    service: Literal['responding']
    storage: Literal['not_checked']
    admission: StatusAdmission
    collaboration: Literal['planned']
    inference_required: Literal[False]


class StatusReply(TypedDict):
    status: str
    id: NotRequired[str]
    expires_at: NotRequired[int]


class Submission(TypedDict):
    id: str
    member_id: str
    summary: Union[str, None]
    artifact_id: Union[str, None]
    created_at: str


class SubmissionRequest(TypedDict):
    expected_version: int
    summary: str
    artifact_id: NotRequired[Union[str, None]]
    visibility: Literal['public']
    publish_consent: Literal[True]
    policy_version: Literal['service-public-v1']


class TransparencyPage(TypedDict):
    status: Literal['ok']
    weeks: List[TransparencyWeek]
    next_cursor: Union[str, None]
    has_more: bool


class TransparencyWeekNotes(TypedDict):
    """Decisions on notes of the guestbooks"""

    approved: int
    rejected: int
    removed: int
    restored: int
    kept: int


class TransparencyWeekRecords(TypedDict):
    """Profiles, context packets, cases and notes on cases"""

    removed: int
    restored: int
    kept: int


class TransparencyWeekPolicies(TypedDict):
    policy: str
    rejected: int
    removed: int


class TransparencyWeekAppeals(TypedDict):
    """Appeals against decisions on notes, opened or answered in this week"""

    opened: int
    granted: int
    upheld: int


TransparencyWeek = TypedDict("TransparencyWeek", {"week": "str", "from": "str", "decisions": "int", "notes": "TransparencyWeekNotes", "records": "TransparencyWeekRecords", "policies": "List[TransparencyWeekPolicies]", "appeals": "TransparencyWeekAppeals", "time_to_decision_seconds": "Union[Dict[str, Any], None]"})


UpdateEvent: TypeAlias = "Union[MemberRegisteredEvent, MemberRecoveredEvent, MemberDeactivatedEvent, MemberDisabledEvent, MemberEnabledEvent, SessionStartedEvent, SessionEndedEvent, CredentialCreatedEvent, CredentialRotatedEvent, CredentialRevokedEvent, CredentialExpiredEvent, PasskeyAddedEvent, PasskeyRemovedEvent, NoteSubmittedEvent, NoteApprovedEvent, NoteRejectedEvent, NoteRemovedEvent, NoteRestoredEvent, NoteWithdrawnEvent, NoteRepliedEvent, ProfilePublishedEvent, ProfileWithdrawnEvent, ProfileRemovedEvent, ArtifactPublishedEvent, ArtifactSupersededEvent, ArtifactWithdrawnEvent, ArtifactRemovedEvent, CaseOpenedEvent, CaseClaimedEvent, CaseReleasedEvent, CaseLeaseEndedEvent, CaseSubmittedEvent, CaseReviewedEvent, CaseAcceptedEvent, CaseReturnedEvent, CaseRejectedEvent, CaseWithdrawnEvent, CaseNotedEvent, CaseRemovedEvent, ReportReceivedEvent, ReportResolvedEvent, AppealOpenedEvent, AppealGrantedEvent, AppealUpheldEvent, OtherEvent]"


class UpdatePage(TypedDict):
    status: Literal['ok']
    events: List[UpdateEvent]
    next_cursor: str
    has_more: bool


class WithdrawnReply(TypedDict):
    status: Literal['withdrawn']
    id: str
    version: NotRequired[int]
    receipt: Receipt


class WriteBudget(TypedDict):
    limit: int
    used: int
    resets_at: str
