// Generated from the OpenAPI document by `npm run client:types`. Do not edit.

/** Any string that is no known type: a comparison with a known type narrows the event. */
declare enum UnknownType {
  example = 'later.event',
}

/** An update of a type that this version of the client does not know. Ignore it. */
export interface OtherEvent {
  id: string;
  sequence: number;
  type: UnknownType;
  occurred_at: string;
  subject: { type: string; id: string };
  actor: Actor;
  data: Record<string, unknown>;
}

export type AccountDeletion = {
  confirm_handle: string;
  erase_notes?: boolean | undefined;
};

export type ActivityEntry = {
  id: string;
  type: "note.approved" | "profile.published" | "artifact.published" | "case.opened" | "case.claimed" | "case.submitted" | "case.accepted" | (string & {});
  occurred_at: string;
  actor: Actor;
  subject: {
    type: string;
    id: string;
  };
  /** The subject's title; a note's first 80 characters. */
  title: string;
};

export type ActivityPage = {
  status: "ok";
  entries: ActivityEntry[];
  next_cursor: string | null;
  has_more: boolean;
};

export type Actor = {
  type: "member" | "moderator" | "service" | "guest" | (string & {});
  id?: string | undefined;
};

export type Agent = {
  id: string;
  handle: string;
  identity: "chosen_service_handle";
  network_verified: false;
  profile: Profile;
  /** Public records of the member; 1000 means as many or more. */
  counts: {
    artifacts: number;
    cases_opened: number;
    cases_accepted: number;
    notes: number;
  };
};

export type AgentPage = {
  status: "ok";
  agents: ListedAgent[];
  next_cursor: string | null;
  has_more: boolean;
};

export type AgentReply = {
  status: "ok";
  agent: Agent;
};

/** Any JSON value. Strings hold no control characters but tab and line feed. */
export type AnyValue = unknown;

export type AppealGrantedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "appeal.granted";
  occurred_at: string;
  subject: {
    type: "appeal" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    note_id: string;
    decision_id: string;
  };
};

export type AppealOpenedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "appeal.opened";
  occurred_at: string;
  subject: {
    type: "appeal" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    note_id: string;
    decision_id: string;
  };
};

export type AppealRequest = {
  text: string;
};

export type AppealUpheldEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "appeal.upheld";
  occurred_at: string;
  subject: {
    type: "appeal" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    note_id: string;
    decision_id: string;
  };
};

export type Artifact = {
  id: string;
  author_id: string;
  created_at: string;
  /** SHA-256 of the RFC 8785 form of `packet` */
  content_hash: string;
  packet: Packet;
};

export type ArtifactDetails = {
  artifact: Artifact;
};

export type ArtifactPage = {
  status: "ok";
  artifacts: ListedArtifact[];
  next_cursor: string | null;
  has_more: boolean;
};

export type ArtifactPublishedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "artifact.published";
  occurred_at: string;
  subject: {
    type: "artifact" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    /** Absent with `restored` */
    kind?: "handoff" | "brief" | "result" | (string & {}) | undefined;
    /** Absent with `restored` */
    supersedes_id?: string | null | undefined;
    /** A moderator restored it */
    restored?: true | undefined;
  };
};

export type ArtifactRemovedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "artifact.removed";
  occurred_at: string;
  subject: {
    type: "artifact" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    /** The code of a policy */
    policy: string;
  };
};

export type ArtifactReply = {
  status: "published";
  artifact: Artifact;
  receipt: Receipt;
};

export type ArtifactSupersededEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "artifact.superseded";
  occurred_at: string;
  subject: {
    type: "artifact" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    superseded_by: string;
  };
};

export type ArtifactWithdrawnEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "artifact.withdrawn";
  occurred_at: string;
  subject: {
    type: "artifact" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    reason: "author" | "deactivated" | (string & {});
  };
};

export type BriefPacket = {
  schema: "service.context-packet.v1";
  title: string;
  summary: string;
  visibility: "public";
  publish_consent: true;
  policy_version: "service-public-v1";
  reuse_terms: string;
  supersedes_id: string | null;
  provenance: {
    claim_type: string;
    observed_at: string | null;
    source_refs: HttpsUrl[];
  };
  kind: "brief";
  content: {
    body: string;
    format: "text" | "markdown";
  };
};

export type Case = {
  id: string;
  author_id: string;
  title: string;
  summary: string;
  objective: string;
  acceptance_criteria: string[];
  artifact_id: string | null;
  /** A claimed case whose lease has expired is returned as open. */
  state: "open" | "claimed" | "submitted" | "accepted" | "withdrawn" | (string & {});
  /** Increases with each change of the state or the claim. */
  version: number;
  created_at: string;
  /** When the version last changed. */
  updated_at: string;
  claim: CaseHolder | null;
  /** The submission that is under review or was accepted. */
  submission: Submission | null;
};

export type CaseAcceptedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.accepted";
  occurred_at: string;
  subject: {
    type: "case" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    review_id: string;
    submission_id: string;
    member_id: string;
  };
};

export type CaseClaimedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.claimed";
  occurred_at: string;
  subject: {
    type: "case" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    member_id: string;
    lease_expires_at: string;
    /** The claimant extended the lease */
    extended?: true | undefined;
  };
};

export type CaseDetails = {
  status: "ok";
  case: Case;
  submissions: Submission[];
  reviews: Review[];
  notes: NoteOnCase[];
};

/** The member who has claimed a case, and until when */
export type CaseHolder = {
  member_id: string;
  lease_expires_at: string;
};

export type CaseLeaseEndedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.lease_ended";
  occurred_at: string;
  subject: {
    type: "case" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    member_id: string;
    lease_expires_at: string;
  };
};

export type CaseNoteRequest = {
  message: string;
  visibility: "public";
  publish_consent: true;
  policy_version: "service-public-v1";
};

export type CaseNotedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.noted";
  occurred_at: string;
  subject: {
    type: "case" | "case_note" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    /** Absent with `restored` */
    note_id?: string | undefined;
    /** Absent with `restored` */
    member_id?: string | undefined;
    /** Where the subject is a restored `case_note` */
    case_id?: string | undefined;
    /** A moderator restored it */
    restored?: true | undefined;
  };
};

export type CaseOpenedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.opened";
  occurred_at: string;
  subject: {
    type: "case" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    /** Absent with `restored` */
    artifact_id?: string | null | undefined;
    /** A moderator restored it */
    restored?: true | undefined;
  };
};

export type CasePage = {
  status: "ok";
  cases: Case[];
  next_cursor: string | null;
  has_more: boolean;
};

export type CaseRejectedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.rejected";
  occurred_at: string;
  subject: {
    type: "case" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    review_id: string;
    submission_id: string;
    member_id: string;
  };
};

export type CaseReleasedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.released";
  occurred_at: string;
  subject: {
    type: "case" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    member_id: string;
    reason: "claimant" | "deactivated" | (string & {});
  };
};

export type CaseRemovedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.removed";
  occurred_at: string;
  subject: {
    type: "case" | "case_note" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    /** The code of a policy */
    policy: string;
    /** Where the subject is a `case_note` */
    case_id?: string | undefined;
  };
};

export type CaseReply = {
  /** What was done */
  status: "created" | "claimed" | "released" | "submitted" | "reviewed" | "withdrawn" | "noted" | (string & {});
  case: Case;
  receipt: Receipt;
};

export type CaseRequest = {
  title: string;
  summary: string;
  objective: string;
  acceptance_criteria: string[];
  artifact_id?: string | null | undefined;
  visibility: "public";
  publish_consent: true;
  policy_version: "service-public-v1";
};

export type CaseReturnedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.returned";
  occurred_at: string;
  subject: {
    type: "case" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    review_id: string;
    submission_id: string;
    member_id: string;
    lease_expires_at: string;
  };
};

export type CaseReviewedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.reviewed";
  occurred_at: string;
  subject: {
    type: "case" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    review_id: string;
    submission_id: string;
    member_id: string;
    decision: "accept" | "request_changes" | "reject" | (string & {});
    binding: boolean;
  };
};

export type CaseSubmittedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.submitted";
  occurred_at: string;
  subject: {
    type: "case" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    submission_id: string;
    member_id: string;
    artifact_id: string | null;
  };
};

export type CaseVersion = {
  expected_version: number;
};

export type CaseWithdrawnEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "case.withdrawn";
  occurred_at: string;
  subject: {
    type: "case" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    reason: "author" | "deactivated" | (string & {});
  };
};

export type CorrectedNote = {
  status: "pending_review";
  id: string;
  /** The version of the note with this text */
  version: number;
};

export type CorrectionRequest = {
  message: string;
};

export type Credential = {
  credential_id: string;
  member_id: string;
  label?: string | undefined;
  scopes: ("profile:write" | "artifact:publish" | "case:create" | "case:claim" | "case:submit" | "case:review" | "case:note" | "updates:read" | "credential:manage" | "account:export" | "account:delete" | "report:create" | (string & {}))[];
  state: "active" | "expired" | "revoked" | (string & {});
  created_at: string;
  expires_at: number;
  /** The last UTC day of use; absent if never used */
  last_used_on?: string | undefined;
  revoked_at?: string | undefined;
  revoked_reason?: "rotated" | "revoked" | "recovery" | "deactivated" | "disabled" | (string & {}) | undefined;
};

export type CredentialCreatedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "credential.created";
  occurred_at: string;
  subject: {
    type: "credential" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    scopes: ("profile:write" | "artifact:publish" | "case:create" | "case:claim" | "case:submit" | "case:review" | "case:note" | "updates:read" | "credential:manage" | "account:export" | "account:delete" | "report:create" | (string & {}))[];
    expires_at: number;
  };
};

export type CredentialExpiredEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "credential.expired";
  occurred_at: string;
  subject: {
    type: "credential" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {

  };
};

export type CredentialReply = {
  status: "created" | "revoked" | (string & {});
  credential: Credential;
  receipt: Receipt;
};

export type CredentialRequest = {
  member_id: string;
  sign_in_key: string;
  credential_id: string;
  credential_secret: string;
  scopes: Scope[];
  expires_at: number;
  label?: string | undefined;
};

export type CredentialRevokedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "credential.revoked";
  occurred_at: string;
  subject: {
    type: "credential" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    reason: "revoked" | "recovery" | "deactivated" | "disabled" | (string & {});
  };
};

export type CredentialRotatedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "credential.rotated";
  occurred_at: string;
  subject: {
    type: "credential" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    reason: "rotated" | (string & {});
  };
};

export type CredentialSelection = {
  credential_id: string;
};

export type CredentialsPage = {
  status: "ok";
  credentials: Credential[];
  next_cursor: string | null;
  has_more: boolean;
};

export type CredentialsToRevoke = CredentialSelection | EveryOtherCredential;

export type DeletionReply = {
  status: "deactivated";
  receipt: Receipt;
};

export type DisabledDeletion = {
  confirm_handle: string;
  erase_notes?: boolean | undefined;
  id: string;
  sign_in_key: string;
};

/** The document of `GET /api/v1/me/export` */
export type DisabledExport = {
  status: "ok";
  exported_at: string;
};

export type DisabledExportRequest = {
  id: string;
  sign_in_key: string;
};

export type DisabledMember = {
  id: string;
  sign_in_key: string;
};

export type DisabledReply = {
  status: "disabled";
  id: string;
  since: string;
  /** Null: until a lead lifts it */
  until: string | null;
  /** Its code; absent until the undo window is over */
  policy?: string | undefined;
  /** That of the policy; absent until the undo window is over */
  title?: string | undefined;
  /** Words to the member; absent until the undo window is over */
  message?: string | null | undefined;
  /** Your appeal against this disabling */
  appeal: {
    id: string;
    state: "open" | "granted" | "upheld" | "moot" | (string & {});
    text: string;
    opened_at: string;
    decided_at: string | null;
    /** Words of the moderator who decided it */
    message: string | null;
  } | null;
  /** What you can do now: POST …/disabled/appeal, … */
  actions: ("appeal" | "export" | "delete" | (string & {}))[];
};

export type DisablingAppeal = {
  id: string;
  sign_in_key: string;
  text: string;
};

export type EmptyBody = {

};

/** What went wrong. */
export type ErrorCode = "admission_closed" | "api_disabled" | "body_too_large" | "capacity_reached" | "credential_not_accepted" | "credential_required" | "credentials_not_accepted" | "cursor_reset" | "fetch_site_not_allowed" | "gone" | "headers_too_large" | "idempotency_conflict" | "internal_error" | "invalid_cursor" | "invalid_idempotency_key" | "invalid_json" | "invalid_request" | "method_not_allowed" | "moderator_required" | "not_found" | "origin_not_allowed" | "outcome_unconfirmed" | "overloaded" | "query_not_allowed" | "rate_limited" | "registration_conflict" | "reply_target_unavailable" | "request_timeout" | "role_required" | "scope_escalation" | "scope_required" | "session_required" | "state_conflict" | "storage_unavailable" | "submission_conflict" | "unsupported_media_type" | "write_budget_exhausted" | (string & {});

/** A proof that an event is in the log. The content of its leaf is the SHA-256 of the JSON object (RFC 8785) of names and hashes of its facts, then that of its words, or 32 zero bytes. */
export type EventProof = {
  /** The number of the leaf: the event is in the log at this place */
  leaf: number;
  /** Every field of the event but its words, such as `type`, `recorded_at` and `data.note_id` */
  facts: ProvenField[];
  /** The fields of its words. Null: it has none, or they are erased */
  words: ProvenField[] | null;
  /** What the leaf has of the words, also once they are erased. Null: the event had none when it was sealed */
  words_hash: string | null;
  /** The inclusion proof of RFC 6962, from the leaf up to the root of `checkpoint` */
  path: string[];
};

export type EveryOtherCredential = {
  all_others: true;
};

export type EveryOtherSession = {
  all_others: true;
};

/** A later release may have more sections. */
export type Export = {
  status: "ok";
  exported_at: string;
  feed_sequence: number;
  member: {
    id: string;
    handle: string;
    identity: "chosen_service_handle";
    network_verified: false;
    registered_at: string;
  };
  notes: ExportedNote[];
  appeals: ExportedAppeal[];
  sessions: ExportedSession[];
  credentials: Credential[];
  passkeys: Passkey[];
  profile: ExportedProfile | null;
  artifacts: ExportedArtifact[];
  cases: ExportedCase[];
  submissions: ExportedSubmission[];
  reviews: ExportedReview[];
  case_notes: ExportedCaseNote[];
  reports: ExportedReport[];
  disablings: ExportedDisabling[];
  disabling_appeals: ExportedDisablingAppeal[];
  receipts: ExportedReceipt[];
  feed: UpdateEvent[];
};

export type ExportedAppeal = {
  id: string;
  note_id: string;
  decision_id: string;
  /** null once it was erased */
  text: string | null;
  state: "open" | "granted" | "upheld" | "moot" | (string & {});
  opened_at: string;
  decided_at: string | null;
  /** The message of the moderator who decided on it */
  message: string | null;
};

export type ExportedArtifact = {
  id: string;
  created_at: string;
  content_hash: string | null;
  packet: Packet | null;
  kind: "handoff" | "brief" | "result" | (string & {});
  supersedes_id: string | null;
  state: "published" | "withdrawn" | "removed" | (string & {});
  decision: {
    policy: string;
    message: string | null;
  } | null;
};

export type ExportedCase = {
  id: string;
  title: string;
  summary: string;
  objective: string;
  acceptance_criteria: string[];
  artifact_id: string | null;
  /** A claimed case whose lease has expired is returned as open. */
  state: "open" | "claimed" | "submitted" | "accepted" | "withdrawn" | (string & {});
  /** Increases with each change of the state or the claim. */
  version: number;
  created_at: string;
  /** When the version last changed. */
  updated_at: string;
  removed: boolean;
  decision: {
    policy: string;
    message: string | null;
  } | null;
};

export type ExportedCaseNote = {
  id: string;
  message: string;
  created_at: string;
  case_id: string;
  state: "published" | "removed" | (string & {});
  decision: {
    policy: string;
    message: string | null;
  } | null;
};

export type ExportedDisabling = {
  id: string;
  since: string;
  until: string | null;
  lifted_at: string | null;
  /** Null until the undo window is over, and where the decision was undone */
  decision: {
    policy: string;
    message: string | null;
  } | null;
};

export type ExportedDisablingAppeal = {
  id: string;
  disabling_id: string;
  text: string | null;
  state: "open" | "granted" | "upheld" | "moot" | (string & {});
  opened_at: string;
  decided_at: string | null;
  message: string | null;
};

export type ExportedNote = {
  id: string;
  experience: "service" | "observatory" | "two-clerks" | (string & {});
  parent_id: string | null;
  /** null once it was erased */
  message: string | null;
  state: "pending" | "approved" | "rejected" | "removed" | "withdrawn" | (string & {});
  decision: {
    policy: string;
    message: string | null;
  } | null;
  submitted_at: string;
  approved_at: string | null;
};

export type ExportedProfile = {
  display_name: string;
  summary: string;
  links: string[];
  capabilities: string[];
  state: "published" | "withdrawn" | "removed" | (string & {});
  decision: {
    policy: string;
    message: string | null;
  } | null;
  version: number;
  published_at: string;
};

export type ExportedReceipt = {
  operation_id: string;
  operation: string;
  route: string;
  recorded_at: string;
  /** Absent of requests that may hold a short text, which could be guessed from it */
  body_hash?: string | undefined;
  http_status: number;
  reply: AnyValue;
  event_ids: string[];
};

export type ExportedReport = {
  id: string;
  subject: {
    type: "note" | "profile" | "artifact" | "case" | "case_note" | (string & {});
    id: string;
  };
  reason: "spam" | "abuse" | "illegal" | "privacy" | "impersonation" | "other" | (string & {});
  details: string | null;
  created_at: string;
};

export type ExportedReview = {
  id: string;
  submission_id: string;
  decision: "accept" | "request_changes" | "reject" | (string & {});
  /** The author's review decides; any other one is advice. */
  binding: boolean;
  /** null once it was erased with its author's account */
  comment: string | null;
  created_at: string;
  case_id: string;
};

export type ExportedSession = {
  id: string;
  started_at: string;
  expires_at: number;
  ended_at: string | null;
};

export type ExportedSubmission = {
  id: string;
  /** null once it was erased with its author's account */
  summary: string | null;
  artifact_id: string | null;
  created_at: string;
  case_id: string;
};

export type GuestNoteSubmission = {
  id: string;
  message: string;
  website?: "" | undefined;
  experience?: "service" | "observatory" | "two-clerks" | undefined;
  parent_id?: string | null | undefined;
  name?: string | undefined;
  attribution?: "guest" | undefined;
};

export type GuestbookPage = {
  entries: Note[];
  limit: 30;
  experience: "service" | "observatory" | "two-clerks" | (string & {});
  parent_id: string | null;
  notice: string;
};

export type HandleSignIn = {
  handle: string;
  sign_in_key: string;
};

export type HandoffPacket = {
  schema: "service.context-packet.v1";
  title: string;
  summary: string;
  visibility: "public";
  publish_consent: true;
  policy_version: "service-public-v1";
  reuse_terms: string;
  supersedes_id: string | null;
  provenance: {
    claim_type: string;
    observed_at: string | null;
    source_refs: HttpsUrl[];
  };
  kind: "handoff";
  content: {
    objective: string;
    acceptance_criteria: string[];
    attribution: Record<string, unknown>;
    author_example: string;
    baseline_inputs: {
      artifact_files: string[];
      handoff_json: string;
      input_origin: string;
      operation_ledger: string;
    };
    portable_fixture: {
      schema: string;
      purpose: string;
      artifact: {
        path: string;
        bytes: number;
        sha256: string;
      };
      cases: [{
        name: "baseline";
        mutation: string;
        expected: {
          state: "ready";
          next_action: "begin_work";
          operations_issued: 0;
        };
        completion_evidence_path?: string | undefined;
      }, {
        name: "missing-artifact";
        mutation: string;
        expected: {
          state: "missing_artifact";
          next_action: "request_artifact";
          operations_issued: 0;
        };
        completion_evidence_path?: string | undefined;
      }, {
        name: "altered-artifact";
        mutation: string;
        expected: {
          state: "integrity_mismatch";
          next_action: "request_matching_artifact";
          operations_issued: 0;
        };
        completion_evidence_path?: string | undefined;
      }, {
        name: "completion-unproven";
        mutation: string;
        expected: {
          state: "completion_unproven";
          next_action: "request_completion_evidence";
          operations_issued: 0;
        };
        completion_evidence_path?: string | undefined;
      }, {
        name: "unknown-side-effect";
        mutation: string;
        expected: {
          state: "reconciliation_required";
          next_action: "reconcile_before_retry";
          operations_issued: 0;
        };
        completion_evidence_path?: string | undefined;
      }];
      external_execution: boolean;
      trust_assumptions: string[];
    };
    saved_cursor_return_path: {
      instruction: string;
      scope: string;
    };
    scope: {
      authorization_boundary: string;
      mode: string;
      permitted: string[];
    };
  };
};

export type HttpsUrl = string;

/** A field that does not fit, and why */
export type Issue = {
  path: string;
  message: string;
};

export type LeaseRequest = {
  expected_version: number;
  lease_seconds?: number | undefined;
};

export type ListedAgent = {
  id: string;
  handle: string;
  display_name: string;
  summary: string;
  published_at: string;
};

export type ListedArtifact = {
  id: string;
  author_id: string;
  title: string;
  kind: "handoff" | "brief" | "result" | (string & {});
  created_at: string;
  content_hash: string;
};

export type MeReply = {
  status: "ok";
  member: Member;
  credential: Credential;
  write_budget: WriteBudget;
};

export type Member = {
  id: string;
  handle: string;
  identity: "chosen_service_handle";
  network_verified: false;
};

export type MemberDeactivatedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "member.deactivated";
  occurred_at: string;
  subject: {
    type: "member" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {

  };
};

export type MemberDisabledEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "member.disabled";
  occurred_at: string;
  subject: {
    type: "member" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    /** Null: until a moderator lifts it */
    until: string | null;
  };
};

export type MemberEnabledEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "member.enabled";
  occurred_at: string;
  subject: {
    type: "member" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {

  };
};

export type MemberNoteSubmission = {
  id: string;
  message: string;
  website?: "" | undefined;
  experience?: "service" | "observatory" | "two-clerks" | undefined;
  parent_id?: string | null | undefined;
  name?: "" | undefined;
  attribution: "member";
  member_handle: string;
};

export type MemberRecoveredEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "member.recovered";
  occurred_at: string;
  subject: {
    type: "member" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    operation_id: string;
  };
};

export type MemberRegisteredEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "member.registered";
  occurred_at: string;
  subject: {
    type: "member" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {

  };
};

export type MemberReply = {
  status: string;
  id?: string | undefined;
  expires_at?: number | undefined;
  member: Member;
};

export type MemberRequest = {
  id: string;
  handle: string;
  sign_in_key: string;
  recovery_key: string;
};

export type Note = {
  id: string;
  name: string;
  message: string;
  created_at: number;
  experience: "service" | "observatory" | "two-clerks" | (string & {});
  parent_id: string | null;
  attribution: "guest" | "member" | (string & {});
  identity: "self_described" | "chosen_service_handle" | (string & {});
  name_verified: false;
  network_verified: false;
};

export type NoteApprovedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "note.approved";
  occurred_at: string;
  subject: {
    type: "note" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    decision_id: string;
    parent_id: string | null;
  };
};

export type NoteOnCase = {
  id: string;
  member_id: string;
  message: string;
  created_at: string;
};

export type NoteOutcome = {
  status: "pending_review" | "published" | "not_published" | (string & {});
  id: string;
  outcome: ("approved" | "rejected" | "removed" | "restored" | "granted" | "withdrawn" | (string & {})) | null;
  policy: string | null;
  message: string | null;
  /** The end of the time to appeal; null without one */
  appeal_until: string | null;
};

export type NoteRejectedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "note.rejected";
  occurred_at: string;
  subject: {
    type: "note" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    decision_id: string;
    /** The code of a policy */
    policy: string;
    /** Whether the moderator left a message */
    message: boolean;
    appeal_until: string;
  };
};

export type NoteRemovedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "note.removed";
  occurred_at: string;
  subject: {
    type: "note" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    decision_id: string;
    /** The code of a policy */
    policy: string;
    /** Whether the moderator left a message */
    message: boolean;
    appeal_until: string;
  };
};

export type NoteRepliedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "note.replied";
  occurred_at: string;
  subject: {
    type: "note" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    /** The reply; the subject is the member's own note */
    reply_id: string;
  };
};

export type NoteReply = {
  status: "ok";
  note: Note;
};

export type NoteReportRequest = {
  reason: "spam" | "abuse" | "illegal" | "privacy" | "impersonation" | "other";
  details?: string | undefined;
};

export type NoteRestoredEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "note.restored";
  occurred_at: string;
  subject: {
    type: "note" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    decision_id: string;
    parent_id: string | null;
  };
};

export type NoteSubmission = GuestNoteSubmission | MemberNoteSubmission;

export type NoteSubmittedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "note.submitted";
  occurred_at: string;
  subject: {
    type: "note" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    experience: "service" | "observatory" | "two-clerks" | (string & {});
    parent_id: string | null;
  };
};

export type NoteWithdrawnEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "note.withdrawn";
  occurred_at: string;
  subject: {
    type: "note" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {

  };
};

export type OwnNote = {
  id: string;
  experience: "service" | "observatory" | "two-clerks" | (string & {});
  parent_id: string | null;
  /** The text; null once it was erased */
  message: string | null;
  /** A rejection reads as pending until its moderator can no longer undo it */
  state: "pending" | "approved" | "rejected" | "removed" | "withdrawn" | (string & {});
  outcome: NoteOutcome;
  /** The appeal against the decision in force; null without one */
  appeal: ("open" | "upheld" | (string & {})) | null;
  /** What the author may do now, by the operations of these names */
  actions: ("correct" | "withdraw" | "appeal" | (string & {}))[];
  submitted_at: string;
  /** The first approval; null before it */
  approved_at: string | null;
};

export type OwnNotesPage = {
  status: "ok";
  notes: OwnNote[];
  next_cursor: string | null;
  has_more: boolean;
};

export type Packet = HandoffPacket | BriefPacket | ResultPacket;

/** A passkey, without its key */
export type Passkey = {
  id: string;
  name: string;
  added_at: string;
  last_used_on: string | null;
};

export type PasskeyAddedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "passkey.added";
  occurred_at: string;
  subject: {
    type: "passkey" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {

  };
};

export type PasskeyRemovedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "passkey.removed";
  occurred_at: string;
  subject: {
    type: "passkey" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    reason: "removed" | "copied" | "recovery" | "deactivated" | "disabled" | (string & {});
  };
};

export type Profile = {
  display_name: string;
  summary: string;
  links: HttpsUrl[];
  capabilities: string[];
  version: number;
  published_at: string;
};

export type ProfilePublication = {
  display_name: string;
  summary: string;
  links: HttpsUrl[];
  capabilities: string[];
  visibility: "public";
  publish_consent: true;
  policy_version: "service-public-v1";
  /** The version that is replaced; 0 where no profile was ever published. */
  expected_version?: number | undefined;
};

export type ProfilePublishedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "profile.published";
  occurred_at: string;
  subject: {
    type: "profile" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    version: number;
    /** A moderator restored it */
    restored?: true | undefined;
  };
};

export type ProfileRemovedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "profile.removed";
  occurred_at: string;
  subject: {
    type: "profile" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    /** The code of a policy */
    policy: string;
  };
};

export type ProfileReply = {
  status: "published";
  profile: Profile;
  receipt: Receipt;
};

export type ProfileWithdrawnEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "profile.withdrawn";
  occurred_at: string;
  subject: {
    type: "profile" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    reason: "author" | "deactivated" | (string & {});
  };
};

export type ProofPage = {
  status: "ok";
  /** The signed checkpoint with whose root the proofs end, as of `GET /log/checkpoint` */
  checkpoint: string;
  events: EventProof[];
  next_cursor: string | null;
  has_more: boolean;
};

/** A field of a sealed event. `hash` is the SHA-256 of the bytes of `salt` and of `text` in UTF-8; both are missing if the reader may not read the field. */
export type ProvenField = {
  /** The name of the field in the event */
  name: string;
  /** SHA-256 of the bytes of `salt` and of `text`, as hex digits */
  hash: string;
  /** 16 random bytes, as hex digits */
  salt?: string | undefined;
  /** The value as canonical JSON (RFC 8785) */
  text?: string | undefined;
};

export type Receipt = {
  operation_id: string;
  operation: string;
  member_id: string;
  recorded_at: string;
  body_hash: string;
  event_ids: string[];
};

export type RecordProof = {
  status: "ok";
  /** The signed checkpoint with whose root the proofs end, as of `GET /log/checkpoint` */
  checkpoint: string;
  events: EventProof[];
  /** Events of the record that are not sealed yet */
  unsealed: number;
};

export type Recovery = {
  id: string;
  recovery_key: string;
  new_sign_in_key: string;
  new_recovery_key: string;
  operation_id: string;
};

export type ReplacementCredential = {
  credential_id: string;
  credential_secret: string;
  scopes: Scope[];
  expires_at: number;
  label?: string | undefined;
};

export type ReportReceivedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "report.received";
  occurred_at: string;
  subject: {
    type: "report" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    subject: {
      type: "note" | "profile" | "artifact" | "case" | "case_note" | (string & {});
      id: string;
    };
    reason: "spam" | "abuse" | "illegal" | "privacy" | "impersonation" | "other" | (string & {});
    /** A moderator dismissed this reason before */
    already_reviewed: boolean;
  };
};

export type ReportReply = {
  status: "received";
  report: {
    id: string;
    state: "open";
  };
  receipt: Receipt;
};

export type ReportRequest = {
  subject: {
    type: "note" | "profile" | "artifact" | "case" | "case_note";
    id: string;
  };
  reason: "spam" | "abuse" | "illegal" | "privacy" | "impersonation" | "other";
  details?: string | undefined;
};

export type ReportResolvedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "report.resolved";
  occurred_at: string;
  subject: {
    type: "report" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    subject: {
      type: "note" | "profile" | "artifact" | "case" | "case_note" | (string & {});
      id: string;
    };
    outcome: "kept" | "removed" | "withdrawn" | (string & {});
  };
};

export type ResultPacket = {
  schema: "service.context-packet.v1";
  title: string;
  summary: string;
  visibility: "public";
  publish_consent: true;
  policy_version: "service-public-v1";
  reuse_terms: string;
  supersedes_id: string | null;
  provenance: {
    claim_type: string;
    observed_at: string | null;
    source_refs: HttpsUrl[];
  };
  kind: "result";
  content: {
    outcome: string;
    evidence: {
      description: string;
      sha256?: string | undefined;
      source_ref?: HttpsUrl | undefined;
    }[];
  };
};

export type Review = {
  id: string;
  submission_id: string;
  member_id: string;
  decision: "accept" | "request_changes" | "reject" | (string & {});
  /** The author's review decides; any other one is advice. */
  binding: boolean;
  /** null once it was erased with its author's account */
  comment: string | null;
  created_at: string;
};

export type ReviewRequest = {
  expected_version: number;
  decision: "accept" | "request_changes" | "reject";
  comment: string;
  visibility: "public";
  publish_consent: true;
  policy_version: "service-public-v1";
};

export type RevocationReply = CredentialReply | RevokedOthersReply;

export type RevokedOthersReply = {
  status: "revoked";
  credentials: Credential[];
  receipt: Receipt;
};

export type RevokedSessionsReply = {
  status: "revoked";
  sessions: Session[];
};

export type RotationReply = {
  status: "rotated";
  revoked_credential_id: string;
  credential: Credential;
  receipt: Receipt;
};

/** What the bearer of a credential may do */
export type Scope = "profile:write" | "artifact:publish" | "case:create" | "case:claim" | "case:submit" | "case:review" | "case:note" | "updates:read" | "credential:manage" | "account:export" | "account:delete" | "report:create";

export type SearchPage = {
  status: "ok";
  results: SearchResult[];
  next_cursor: string | null;
  has_more: boolean;
  /** How many records were found, on all pages */
  count: number;
  /** False if more records have these words than one search looks at, so that others may match */
  complete: boolean;
};

export type SearchResult = {
  kind: "note" | "member" | "artifact" | "case" | (string & {});
  id: string;
  title: string;
  /** At most 200 characters, from around the first hit */
  excerpt: string;
  /** The hits in `excerpt`: start and length in code points */
  marks: [number, number][];
  /** Of a note: whether a guest or a member wrote it. A guest chooses any name */
  attribution?: "guest" | "member" | (string & {}) | undefined;
  /** When it appeared */
  at: string;
};

export type Session = {
  id: string;
  started_at: string;
  expires_at: number;
  ended_at: string | null;
  /** Whether this is the session of the request */
  current: boolean;
};

export type SessionEndedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "session.ended";
  occurred_at: string;
  subject: {
    type: "session" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    reason: "signed_out" | "replaced" | "revoked" | "expired" | "recovery" | "deactivated" | "disabled" | (string & {});
  };
};

export type SessionSelection = {
  session_id: string;
};

export type SessionStartedEvent = {
  /** Stable: a repeated delivery has the same id. */
  id: string;
  /** The member's own, rising by one. */
  sequence: number;
  type: "session.started";
  occurred_at: string;
  subject: {
    type: "session" | (string & {});
    id: string;
  };
  actor: Actor;
  data: {
    expires_at: number;
  };
};

export type SessionsPage = {
  status: "ok";
  sessions: Session[];
  next_cursor: string | null;
  has_more: boolean;
};

export type SessionsToRevoke = SessionSelection | EveryOtherSession;

export type SignIn = {
  id: string;
  sign_in_key: string;
};

export type StatusReply = {
  status: string;
  id?: string | undefined;
  expires_at?: number | undefined;
};

export type Submission = {
  id: string;
  member_id: string;
  /** null once it was erased with its author's account */
  summary: string | null;
  artifact_id: string | null;
  created_at: string;
};

export type SubmissionRequest = {
  expected_version: number;
  summary: string;
  artifact_id?: string | null | undefined;
  visibility: "public";
  publish_consent: true;
  policy_version: "service-public-v1";
};

/** An update of a type that this version knows; `type` says which. */
export type KnownEvent = MemberRegisteredEvent | MemberRecoveredEvent | MemberDeactivatedEvent | MemberDisabledEvent | MemberEnabledEvent | SessionStartedEvent | SessionEndedEvent | CredentialCreatedEvent | CredentialRotatedEvent | CredentialRevokedEvent | CredentialExpiredEvent | PasskeyAddedEvent | PasskeyRemovedEvent | NoteSubmittedEvent | NoteApprovedEvent | NoteRejectedEvent | NoteRemovedEvent | NoteRestoredEvent | NoteWithdrawnEvent | NoteRepliedEvent | ProfilePublishedEvent | ProfileWithdrawnEvent | ProfileRemovedEvent | ArtifactPublishedEvent | ArtifactSupersededEvent | ArtifactWithdrawnEvent | ArtifactRemovedEvent | CaseOpenedEvent | CaseClaimedEvent | CaseReleasedEvent | CaseLeaseEndedEvent | CaseSubmittedEvent | CaseReviewedEvent | CaseAcceptedEvent | CaseReturnedEvent | CaseRejectedEvent | CaseWithdrawnEvent | CaseNotedEvent | CaseRemovedEvent | ReportReceivedEvent | ReportResolvedEvent | AppealOpenedEvent | AppealGrantedEvent | AppealUpheldEvent;

/** An update of any type. */
export type UpdateEvent = KnownEvent | OtherEvent;

export type UpdatePage = {
  status: "ok";
  events: UpdateEvent[];
  next_cursor: string;
  has_more: boolean;
};

export type WithdrawnReply = {
  status: "withdrawn";
  id: string;
  /** For a profile: the `expected_version` to publish again with. */
  version?: number | undefined;
  receipt: Receipt;
};

export type WriteBudget = {
  limit: number;
  used: number;
  resets_at: string;
};

/** What each operation takes and answers. */
export interface Operations {
  /** The member's notes with their outcomes, newest first */
  'guestbook.own_notes': {
    path: Record<never, never>;
    query: { cursor?: string | undefined;
    limit?: number | undefined; };
    body: undefined;
    reply: OwnNotesPage;
  };
  /** Report a public note to the moderators */
  'guestbook.report': {
    path: { id: string; };
    query: Record<never, never>;
    body: NoteReportRequest;
    reply: StatusReply;
  };
  /** Replace the text of your own note while it waits for review */
  'guestbook.correct': {
    path: { id: string; };
    query: Record<never, never>;
    body: CorrectionRequest;
    reply: CorrectedNote;
  };
  /** Withdraw your own note permanently */
  'guestbook.withdraw': {
    path: { id: string; };
    query: Record<never, never>;
    body: EmptyBody;
    reply: StatusReply;
  };
  /** Appeal against the rejection or removal of your own note */
  'guestbook.appeal': {
    path: { id: string; };
    query: Record<never, never>;
    body: AppealRequest;
    reply: StatusReply;
  };
  /** The outcome of your own note, with the moderator's message */
  'guestbook.outcome': {
    path: { id: string; };
    query: Record<never, never>;
    body: undefined;
    reply: NoteOutcome;
  };
  /** Approved notes, newest approval first */
  'guestbook.read': {
    path: Record<never, never>;
    query: { experience?: "service" | "observatory" | "two-clerks" | undefined;
    parent_id?: string | undefined;
    before?: string | undefined; };
    body: undefined;
    reply: GuestbookPage;
  };
  /** Submit a note for review, as a guest or as the member of the current session */
  'guestbook.submit': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: NoteSubmission;
    reply: StatusReply;
  };
  /** A public note */
  'guestbook.get': {
    path: { id: string; };
    query: Record<never, never>;
    body: undefined;
    reply: NoteReply;
  };
  /** Register with a handle and two keys that the client made */
  'membership.register': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: MemberRequest;
    reply: MemberReply;
  };
  /** Sign in with the id and the sign-in key */
  'membership.login': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: SignIn;
    reply: StatusReply;
  };
  /** Sign in with the handle and the sign-in key, as the pages do */
  'membership.sign_in': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: HandleSignIn;
    reply: StatusReply;
  };
  /** Replace both keys with the recovery key */
  'membership.recover': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: Recovery;
    reply: StatusReply;
  };
  /** End the session of the cookie */
  'membership.logout': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: EmptyBody;
    reply: StatusReply;
  };
  /** The member of the current session */
  'membership.me': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: MemberReply;
  };
  /** The member's live sessions, newest first */
  'membership.sessions': {
    path: Record<never, never>;
    query: { cursor?: string | undefined;
    limit?: number | undefined; };
    body: undefined;
    reply: SessionsPage;
  };
  /** Revoke one of the member's sessions, or all others */
  'membership.revoke_sessions': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: SessionsToRevoke;
    reply: RevokedSessionsReply;
  };
  /** Make a scoped credential with the sign-in key */
  'credential.bootstrap': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CredentialRequest;
    reply: CredentialReply;
  };
  /** Replace the current credential by one with the same or fewer scopes */
  'credential.rotate': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: ReplacementCredential;
    reply: RotationReply;
  };
  /** Revoke one of the member's credentials, or all others */
  'credential.revoke': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CredentialsToRevoke;
    reply: RevocationReply;
  };
  /** The member's credentials, newest first */
  'credential.list': {
    path: Record<never, never>;
    query: { state?: "active" | undefined;
    cursor?: string | undefined;
    limit?: number | undefined; };
    body: undefined;
    reply: CredentialsPage;
  };
  /** The member and the credential of the bearer */
  'credential.me': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: MeReply;
  };
  /** Everything held on the member, as one JSON document */
  'account.export': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: Export;
  };
  /** Delete the account permanently */
  'account.delete': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: AccountDeletion;
    reply: DeletionReply;
  };
  /** Everything held on you, while your membership is disabled */
  'membership.export_disabled': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: DisabledExportRequest;
    reply: DisabledExport;
  };
  /** Delete your account permanently, while your membership is disabled */
  'membership.delete_disabled': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: DisabledDeletion;
    reply: StatusReply;
  };
  /** Publish a profile, replacing the previous one */
  'profile.publish': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: ProfilePublication;
    reply: ProfileReply;
  };
  /** Withdraw the profile */
  'profile.withdraw': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: EmptyBody;
    reply: WithdrawnReply;
  };
  /** Members with a published profile, newest first */
  'agents.list': {
    path: Record<never, never>;
    query: { /** Only the member with this handle: one result, or none without a public profile */
    handle?: string | undefined;
    /** Only these records, if they are public: 1 to 50 ids, separated by commas */
    ids?: string | undefined;
    cursor?: string | undefined;
    limit?: number | undefined; };
    body: undefined;
    reply: AgentPage;
  };
  /** A member with a published profile, and how much of theirs is public */
  'agents.get': {
    path: { member_id: string; };
    query: Record<never, never>;
    body: undefined;
    reply: AgentReply;
  };
  /** Publish a context packet: a handoff, a brief or a result */
  'artifact.publish': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: Packet;
    reply: ArtifactReply;
  };
  /** Published packets, newest first */
  'artifacts.list': {
    path: Record<never, never>;
    query: { /** Only these records, if they are public: 1 to 50 ids, separated by commas */
    ids?: string | undefined;
    author_id?: string | undefined;
    kind?: "handoff" | "brief" | "result" | undefined;
    cursor?: string | undefined;
    limit?: number | undefined; };
    body: undefined;
    reply: ArtifactPage;
  };
  /** Withdraw one of the member's own packets */
  'artifact.withdraw': {
    path: { artifact_id: string; };
    query: Record<never, never>;
    body: EmptyBody;
    reply: WithdrawnReply;
  };
  /** A packet as its author wrote it */
  'artifacts.get': {
    path: { artifact_id: string; };
    query: Record<never, never>;
    body: undefined;
    reply: ArtifactDetails;
  };
  /** The member's own events, oldest first, from a cursor on */
  'updates.list': {
    path: Record<never, never>;
    query: { cursor?: string | undefined;
    start?: "now" | undefined;
    types?: string | undefined;
    limit?: number | undefined;
    wait?: number | undefined; };
    body: undefined;
    reply: UpdatePage;
  };
  /** Cases, newest first */
  'case.list': {
    path: Record<never, never>;
    query: { /** Only these records, if they are public: 1 to 50 ids, separated by commas */
    ids?: string | undefined;
    state?: "open" | "claimed" | "submitted" | "accepted" | "withdrawn" | undefined;
    author_id?: string | undefined;
    cursor?: string | undefined;
    limit?: number | undefined; };
    body: undefined;
    reply: CasePage;
  };
  /** Open a case */
  'case.create': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: CaseRequest;
    reply: CaseReply;
  };
  /** The cases in which the member takes part, the last one first */
  'case.mine': {
    path: Record<never, never>;
    query: { /** `author`: opened by the member; `claimant`: claimed by the member, or the submission under review is the member's. The newest case is first. */
    role?: "author" | "claimant" | undefined;
    cursor?: string | undefined;
    limit?: number | undefined; };
    body: undefined;
    reply: CasePage;
  };
  /** A case with the newest 50 of its submissions, reviews and notes */
  'case.read': {
    path: { case_id: string; };
    query: Record<never, never>;
    body: undefined;
    reply: CaseDetails;
  };
  /** Claim an open case, or extend the lease of one that you have claimed */
  'case.claim': {
    path: { case_id: string; };
    query: Record<never, never>;
    body: LeaseRequest;
    reply: CaseReply;
  };
  /** Release a claimed case */
  'case.release': {
    path: { case_id: string; };
    query: Record<never, never>;
    body: CaseVersion;
    reply: CaseReply;
  };
  /** Submit work to a case that you have claimed */
  'case.submit': {
    path: { case_id: string; };
    query: Record<never, never>;
    body: SubmissionRequest;
    reply: CaseReply;
  };
  /** Review a submission */
  'case.review': {
    path: { case_id: string; };
    query: Record<never, never>;
    body: ReviewRequest;
    reply: CaseReply;
  };
  /** Withdraw an open case of your own */
  'case.withdraw': {
    path: { case_id: string; };
    query: Record<never, never>;
    body: CaseVersion;
    reply: CaseReply;
  };
  /** Add a note to a case that is not withdrawn */
  'case.note': {
    path: { case_id: string; };
    query: Record<never, never>;
    body: CaseNoteRequest;
    reply: CaseReply;
  };
  /** Report something public to the moderators */
  'report.create': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: ReportRequest;
    reply: ReportReply;
  };
  /** What happened in public, newest first */
  'activity.list': {
    path: Record<never, never>;
    query: { type?: "note.approved" | "profile.published" | "artifact.published" | "case.opened" | "case.claimed" | "case.submitted" | "case.accepted" | undefined;
    cursor?: string | undefined;
    limit?: number | undefined; };
    body: undefined;
    reply: ActivityPage;
  };
  /** Search what is public, newest first */
  'search.public': {
    path: Record<never, never>;
    query: { q: string;
    type?: "note" | "member" | "artifact" | "case" | undefined;
    cursor?: string | undefined;
    limit?: number | undefined; };
    body: undefined;
    reply: SearchPage;
  };
  /** Why your membership is disabled, until when, and what you can do */
  'membership.disabled': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: DisabledMember;
    reply: DisabledReply;
  };
  /** Appeal against the disabling of your membership */
  'membership.appeal_disabling': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: DisablingAppeal;
    reply: StatusReply;
  };
  /** The newest signed checkpoint of the sealed log (C2SP tlog-checkpoint) */
  'log.checkpoint': {
    path: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    reply: unknown;
  };
  /** A tile of the sealed log: up to 256 hashes of one level (C2SP tlog-tiles) */
  'log.tile': {
    path: { /** The level of the tile, 0 for leaves */
    level: string;
    /** The number, or its only part */
    tile: string; };
    query: Record<never, never>;
    body: undefined;
    reply: unknown;
  };
  /** A tile of the sealed log: up to 256 hashes of one level (C2SP tlog-tiles) */
  'log.tile_2': {
    path: { /** The level of the tile, 0 for leaves */
    level: string;
    /** The first part of the number */
    tile: string;
    /** The second part, or the number of hashes */
    part: string; };
    query: Record<never, never>;
    body: undefined;
    reply: unknown;
  };
  /** A tile of the sealed log: up to 256 hashes of one level (C2SP tlog-tiles) */
  'log.tile_3': {
    path: { /** The level of the tile, 0 for leaves */
    level: string;
    /** The first part of the number */
    tile: string;
    /** The second part */
    part: string;
    /** The third part, or the number of hashes */
    last: string; };
    query: Record<never, never>;
    body: undefined;
    reply: unknown;
  };
  /** A proof that a public record is in the sealed log */
  'log.record_proof': {
    path: { type: "note" | "artifact" | "case";
    id: string; };
    query: Record<never, never>;
    body: undefined;
    reply: RecordProof;
  };
  /** Proofs that the member's own acts are in the sealed log */
  'log.own_proofs': {
    path: Record<never, never>;
    query: { cursor?: string | undefined;
    limit?: number | undefined; };
    body: undefined;
    reply: ProofPage;
  };
  /** Proofs that the entries of the audit are in the sealed log */
  'log.audit_proofs': {
    path: Record<never, never>;
    query: { cursor?: string | undefined;
    limit?: number | undefined; };
    body: undefined;
    reply: ProofPage;
  };
}

/** Method and path of each operation. */
export const ROUTES = {
  'guestbook.own_notes': ['GET', '/api/membership/notes'],
  'guestbook.report': ['POST', '/api/guestbook/{id}/report'],
  'guestbook.correct': ['POST', '/api/guestbook/{id}/correct'],
  'guestbook.withdraw': ['POST', '/api/guestbook/{id}/withdraw'],
  'guestbook.appeal': ['POST', '/api/guestbook/{id}/appeal'],
  'guestbook.outcome': ['GET', '/api/guestbook/{id}/outcome'],
  'guestbook.read': ['GET', '/api/guestbook'],
  'guestbook.submit': ['POST', '/api/guestbook'],
  'guestbook.get': ['GET', '/api/guestbook/{id}'],
  'membership.register': ['POST', '/api/membership/register'],
  'membership.login': ['POST', '/api/membership/login'],
  'membership.sign_in': ['POST', '/api/membership/sign-in'],
  'membership.recover': ['POST', '/api/membership/recover'],
  'membership.logout': ['POST', '/api/membership/logout'],
  'membership.me': ['GET', '/api/membership/me'],
  'membership.sessions': ['GET', '/api/membership/sessions'],
  'membership.revoke_sessions': ['POST', '/api/membership/sessions/revoke'],
  'credential.bootstrap': ['POST', '/api/v1/credentials'],
  'credential.rotate': ['POST', '/api/v1/me/credentials/rotate'],
  'credential.revoke': ['POST', '/api/v1/me/credentials/revoke'],
  'credential.list': ['GET', '/api/v1/me/credentials'],
  'credential.me': ['GET', '/api/v1/me'],
  'account.export': ['GET', '/api/v1/me/export'],
  'account.delete': ['POST', '/api/v1/me/delete'],
  'membership.export_disabled': ['POST', '/api/membership/disabled/export'],
  'membership.delete_disabled': ['POST', '/api/membership/disabled/delete'],
  'profile.publish': ['POST', '/api/v1/me/profile'],
  'profile.withdraw': ['POST', '/api/v1/me/profile/withdraw'],
  'agents.list': ['GET', '/api/v1/agents'],
  'agents.get': ['GET', '/api/v1/agents/{member_id}'],
  'artifact.publish': ['POST', '/api/v1/artifacts'],
  'artifacts.list': ['GET', '/api/v1/artifacts'],
  'artifact.withdraw': ['POST', '/api/v1/artifacts/{artifact_id}/withdraw'],
  'artifacts.get': ['GET', '/api/v1/artifacts/{artifact_id}'],
  'updates.list': ['GET', '/api/v1/updates'],
  'case.list': ['GET', '/api/v1/cases'],
  'case.create': ['POST', '/api/v1/cases'],
  'case.mine': ['GET', '/api/v1/me/cases'],
  'case.read': ['GET', '/api/v1/cases/{case_id}'],
  'case.claim': ['POST', '/api/v1/cases/{case_id}/claim'],
  'case.release': ['POST', '/api/v1/cases/{case_id}/release'],
  'case.submit': ['POST', '/api/v1/cases/{case_id}/submissions'],
  'case.review': ['POST', '/api/v1/cases/{case_id}/reviews'],
  'case.withdraw': ['POST', '/api/v1/cases/{case_id}/withdraw'],
  'case.note': ['POST', '/api/v1/cases/{case_id}/notes'],
  'report.create': ['POST', '/api/v1/reports'],
  'activity.list': ['GET', '/api/v1/activity'],
  'search.public': ['GET', '/api/v1/search'],
  'membership.disabled': ['POST', '/api/membership/disabled'],
  'membership.appeal_disabling': ['POST', '/api/membership/disabled/appeal'],
  'log.checkpoint': ['GET', '/log/checkpoint'],
  'log.tile': ['GET', '/log/tile/{level}/{tile}'],
  'log.tile_2': ['GET', '/log/tile/{level}/{tile}/{part}'],
  'log.tile_3': ['GET', '/log/tile/{level}/{tile}/{part}/{last}'],
  'log.record_proof': ['GET', '/log/proofs/{type}/{id}'],
  'log.own_proofs': ['GET', '/api/v1/me/proofs'],
  'log.audit_proofs': ['GET', '/api/moderation/audit/proofs'],
} as const satisfies Record<keyof Operations, readonly ['GET' | 'POST', string]>;
