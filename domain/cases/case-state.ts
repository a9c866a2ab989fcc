import type { NewEvent } from '../../platform/eventstore/event.ts';
import type * as events from './events.ts';

/** The events of a case's stream. Each note on the case has a separate stream. */
export type CaseEvents = Exclude<
  (typeof events)[Extract<keyof typeof events, `Case${string}`>],
  { type: 'CaseNoted' | `CaseNote${string}` }
>;
export type CaseEvent = NewEvent<CaseEvents>;

interface CaseBase {
  caseId: string;
  authorId: string;
  /** Increases with every change of the case's state or claim, and only then. */
  version: number;
  /** `removed` by a moderator; `told` is set once the members concerned have been notified. */
  removed: boolean;
  told: boolean;
}

interface Claim {
  memberId: string;
  leaseSeconds: number;
  expiresAt: Date;
}

/** `lapsed` is the member whose lease expired last, until another member claims the case. */
export type OpenCase = CaseBase & { status: 'open'; lapsed: string | null };
export type ClaimedCase = CaseBase & { status: 'claimed'; claim: Claim };
export type SubmittedCase = CaseBase & { status: 'submitted'; claim: Claim; submissionId: string };

export type ExistingCase =
  | OpenCase
  | ClaimedCase
  | SubmittedCase
  | (CaseBase & { status: 'accepted'; submissionId: string })
  | (CaseBase & { status: 'withdrawn' });

/** What the read model knows of a case in every state. */
interface KnownCase {
  case_id: string;
  author_id: string;
  version: number;
  removed: boolean;
}

export type CaseState = { status: 'none' } | ExistingCase;

/**
 * After one of these events, the state depends on no event before it, except `version`, `removed` and
 * `told`.
 */
export const RESETS = [
  'CaseOpened',
  'CaseClaimed',
  'CaseLeaseExtended',
  'CaseReleased',
  'CaseLeaseEnded',
  'CaseRejected',
] as const satisfies CaseEvent['type'][];

/**
 * The state after the events of a case from a reset on, completed with what the read model knows of it.
 * It lacks `told`, on which no command of a member depends.
 */
export function stateSinceReset(
  { case_id, author_id, version, removed }: KnownCase,
  events: readonly CaseEvent[],
): ExistingCase {
  const before: OpenCase = {
    status: 'open',
    caseId: case_id,
    authorId: author_id,
    version,
    removed,
    told: false,
    lapsed: null,
  };
  return { ...(events.reduce(evolve, before as CaseState) as ExistingCase), version };
}

export function evolve(state: CaseState, event: CaseEvent): CaseState {
  if (event.type === 'CaseOpened')
    return {
      status: 'open',
      caseId: event.data.case_id,
      authorId: event.data.author_id,
      version: 1,
      removed: false,
      told: false,
      lapsed: null,
    };
  if (state.status === 'none') return state;
  const { caseId, authorId, removed, told } = state;
  const next = { caseId, authorId, removed, told, version: state.version + 1 };

  switch (event.type) {
    case 'CaseClaimed':
    case 'CaseLeaseExtended': {
      const { member_id, lease_seconds, lease_expires_at } = event.data;
      const claim = {
        memberId: member_id,
        leaseSeconds: lease_seconds,
        expiresAt: new Date(lease_expires_at),
      };
      return { ...next, status: 'claimed', claim };
    }
    case 'CaseReleased':
    case 'CaseRejected':
      return { ...next, status: 'open', lapsed: null };
    case 'CaseLeaseEnded':
      return { ...next, status: 'open', lapsed: event.data.member_id };
    case 'CaseSubmitted':
      if (state.status !== 'claimed') return state;
      return {
        ...next,
        status: 'submitted',
        claim: state.claim,
        submissionId: event.data.submission_id,
      };
    case 'CaseAccepted':
      return { ...next, status: 'accepted', submissionId: event.data.submission_id };
    case 'CaseReturned': {
      if (state.status !== 'submitted') return state;
      const expiresAt = new Date(event.data.lease_expires_at);
      return { ...next, status: 'claimed', claim: { ...state.claim, expiresAt } };
    }
    case 'CaseWithdrawn':
      return { ...next, status: 'withdrawn' };
    case 'CaseRemoved':
      return { ...state, version: next.version, removed: true, told: false };
    case 'CaseRestored':
      return { ...state, version: next.version, removed: false, told: false };
    case 'CaseRemovalTold':
      return { ...state, told: true };
    case 'CaseReviewed':
    case 'CaseAuthorLeft':
      return state;
  }
}
