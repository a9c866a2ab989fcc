/** The JSON of the routes that the client covers. */

export type Scope =
  | 'profile:write'
  | 'artifact:publish'
  | 'case:create'
  | 'case:claim'
  | 'case:submit'
  | 'case:review'
  | 'case:note'
  | 'updates:read'
  | 'credential:manage'
  | 'account:export'
  | 'account:delete'
  | 'report:create';

export interface Member {
  id: string;
  handle: string;
  identity: 'chosen_service_handle';
  network_verified: false;
}

export interface Credential {
  credential_id: string;
  member_id: string;
  scopes: Scope[];
  state: 'active' | 'expired' | 'revoked';
  created_at: string;
  /** Unix seconds. */
  expires_at: number;
  revoked_at?: string;
  revoked_reason?: 'rotated' | 'revoked' | 'recovery' | 'deactivated' | 'disabled';
}

export interface Receipt {
  operation_id: string;
  operation: string;
  member_id: string;
  recorded_at: string;
  body_hash: string;
  event_ids: string[];
}

/** The request for a credential. The client chooses all of its values. */
export interface NewCredential {
  credential_id: string;
  credential_secret: string;
  scopes: readonly Scope[];
  expires_at: number;
}

export interface CredentialReply {
  status: 'created' | 'rotated' | 'revoked';
  credential: Credential;
  receipt: Receipt;
}

export interface MemberReply {
  status: 'registered';
  id: string;
  member: Member;
}

export interface MeReply {
  status: 'ok';
  member: Member;
  credential: Credential;
  write_budget: { limit: number; used: number; resets_at: string };
}

export interface UpdateEvent {
  /** Stable: an event that is delivered twice has the same id both times. */
  id: string;
  /** Number of the event in the member's feed, without gaps. */
  sequence: number;
  type: string;
  occurred_at: string;
  subject: { type: string; id: string };
  actor: { type: 'member' | 'moderator' | 'service' | 'guest'; id?: string };
  data: Record<string, unknown>;
}

export interface UpdatesPage {
  status: 'ok';
  events: UpdateEvent[];
  next_cursor: string;
  has_more: boolean;
}

/** An invalid field of a request. */
export interface Issue {
  path: string;
  message: string;
}

/** The body of a refusal. Some codes have more fields. */
export interface ProblemBody {
  status: string;
  error?: {
    code: string;
    message: string;
    request_id: string;
    reason?: string;
    issues?: Issue[];
    /** With `cursor_reset`. */
    kept_through?: number;
    epoch?: number;
    cursor?: string;
  } & Record<string, unknown>;
}
