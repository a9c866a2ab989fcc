import type { ErrorCode, Issue, Scope } from './schema.ts';

export type {
  Credential,
  CredentialReply,
  Issue,
  KnownEvent,
  Member,
  MemberReply,
  MeReply,
  OtherEvent,
  Receipt,
  Scope,
  UpdateEvent,
  UpdatePage as UpdatesPage,
} from './schema.ts';

/** The request for a credential. The client chooses all of its values. */
export interface NewCredential {
  credential_id: string;
  credential_secret: string;
  scopes: readonly Scope[];
  expires_at: number;
}

/** The body of a refusal. Some codes have more fields. */
export interface ProblemBody {
  status: string;
  error?: {
    code: ErrorCode;
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
