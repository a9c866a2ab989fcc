import canonicalize from 'canonicalize';
import type pg from 'pg';
import { fault } from '../fault.ts';
import { contentHash } from '../json.ts';
import type { KeyRing, Verifier } from '../keys/key-ring.ts';
import { query } from '../postgres/query.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { Sql } from '../sql.ts';
import type { RecordedEvent } from './event.ts';
import type { Owner } from './owner.ts';
import { resolveAnswer, type Unchanged, type Writes } from './plan.ts';
import { type Receipt, type ReceiptRow, readReceipt } from './receipts.ts';

type BindingName = 'body' | 'body and secrets' | 'keyed content';

/** A space of idempotency keys, and the rules for its receipts. */
export interface ReceiptSpace {
  /** The same key in another space is another receipt. */
  name: string;
  /** The kinds of owners that have receipts in this space. */
  holders: readonly string[];
  /** How a receipt is bound to the body of its request: see `BINDINGS`. */
  binding: BindingName;
  keyRequired: boolean;
  /** The refusal of a request that uses the key of another request again. */
  conflict: Refusal;
}

type HolderOf<Space extends ReceiptSpace> = Owner<Space['holders'][number]>;

/** A request whose command is executed once per owner, space and key. */
export interface IdempotentRequest {
  owner: Owner;
  space: ReceiptSpace;
  /** Undefined if the caller sent no key; then nothing is stored or replayed. */
  key: string | undefined;
  operation: string;
  /** Method and path. */
  route: string;
  sent: Readonly<Record<string, unknown>>;
  /** For the keyed hashes of the space's binding. */
  keys: KeyRing | null;
}

/** A request in a space, by one who may have receipts there. */
export const requestIn = <const Space extends ReceiptSpace>(
  space: Space,
  request: Omit<IdempotentRequest, 'space'> & {
    owner: HolderOf<Space>;
    keys: Space['binding'] extends 'body' ? null : KeyRing;
  },
): IdempotentRequest => ({ space, ...request });

/** Whether a command with the key has a receipt by now. Waits for no command that is under way. */
export const hasReceipt = async <const Space extends ReceiptSpace>(
  pool: pg.Pool,
  owner: HolderOf<Space>,
  space: Space,
  key: string,
): Promise<boolean> => (await query(pool, readReceipt(owner, space.name, key))).length > 0;

/** How the receipt of a request is read, compared and written. */
interface Receipts {
  /** Read after the command's locks, so that a concurrent repeat finds the winner's receipt. */
  read: Sql<ReceiptRow> | null;
  find(rows: readonly ReceiptRow[]): ReceiptRow | undefined;
  /** Whether the request repeats the one of the receipt exactly. */
  isRepeat(receipt: ReceiptRow | undefined): boolean;
  /** The refusal of another request with the same key. */
  conflict: Refusal;
  /** The hash of the body that the receipt stores. */
  bodyHash(): string;
  /** Adds the receipt to a decision. A decision that changes nothing is `unchanged`, and has none. */
  keep<Answer>(
    decision: Writes<Answer> | Unchanged<Answer>,
    toReply: (answer: Answer) => { status: number; body: unknown },
  ): Writes<Answer> | Unchanged<Answer>;
}

/**
 * The receipts of a request, one for each idempotency key. A receipt is committed with the command's
 * writes; a request that repeats key, route and body is answered from it, and one that differs gets the
 * conflict of the space. A command that changes nothing stores nothing. Receipts are permanent, so a reply
 * must not contain free text unless its erasure is provided for. Throws if the space requires a key and the
 * request has none.
 */
export function receiptsOf(request: IdempotentRequest): Receipts {
  const { owner, space, key, operation, route } = request;
  if (!key && space.keyRequired)
    throw new Error(`${operation}: a request without an idempotency key`);
  const binding = BINDINGS[space.binding];
  let bound: ReturnType<Binding['bind']> | undefined;
  const bind = () => {
    bound ??= binding.bind(request);
    return bound;
  };
  return {
    read: key ? readReceipt(owner, space.name, key) : null,
    find: ([receipt]) => (fault('no-receipt') ? undefined : receipt),
    isRepeat: (receipt) => receipt?.route === route && binding.matches(request, receipt),
    conflict: space.conflict,
    bodyHash: () => bind().bodyHash,
    keep(decision, toReply) {
      if ('unchanged' in decision) return decision;
      // A repeat would give the same answer again, so there is nothing to store.
      if (!changesState(decision)) return { unchanged: resolveAnswer(decision, []) };
      if (!key) return decision;
      const answer = resolveOnce(decision);
      return {
        ...decision,
        answer,
        receipt: (events) => {
          const { status, body } = toReply(answer(events));
          return {
            owner,
            space: space.name,
            key,
            operation,
            route,
            ...bind(),
            httpStatus: status,
            reply: body,
            eventIds: events.map((event) => event.event_id),
          };
        },
      };
    },
  };
}

/** Of a command without an idempotency key that may not have one: nothing is stored or replayed. */
export const NO_RECEIPTS: Receipts = {
  read: null,
  find: () => undefined,
  isRepeat: () => false,
  conflict: refuse('idempotency_conflict'),
  bodyHash: () => '',
  keep: (decision) =>
    'unchanged' in decision || changesState(decision) || hasWrites(decision)
      ? decision
      : { unchanged: resolveAnswer(decision, []) },
};

const hasWrites = ({ rows = [], jobs = [] }: Writes<unknown>): boolean =>
  rows.length + jobs.length > 0;

const changesState = ({ appends, changesRows = false }: Writes<unknown>): boolean =>
  changesRows || appends.some(({ events }) => events.length > 0);

/** Builds the answer once, so that the response and the stored reply are identical. */
function resolveOnce<Answer>(decision: Writes<Answer>): (events: RecordedEvent[]) => Answer {
  let resolved: { answer: Answer } | undefined;
  return (events) => {
    resolved ??= { answer: resolveAnswer(decision, events) };
    return resolved.answer;
  };
}

interface Binding {
  bind(request: IdempotentRequest): Pick<Receipt, 'bodyHash' | 'bound'>;
  /** Whether a request has the body that the receipt is bound to. An erased receipt has none. */
  matches(request: IdempotentRequest, receipt: ReceiptRow): boolean;
}

type KeyedHashes = Readonly<Record<string, Verifier>>;

const BINDINGS: Readonly<Record<BindingName, Binding>> = {
  /** A plain hash of the body. */
  body: {
    bind: ({ sent }) => ({ bodyHash: redactedHash(sent), bound: null }),
    matches: ({ sent }, receipt) => redactedHash(sent) === receipt.body_hash,
  },
  /** A plain hash without the secrets, and a keyed hash of each secret. */
  'body and secrets': {
    bind: (request) => ({ bodyHash: redactedHash(request.sent), bound: keyedSecrets(request) }),
    matches: ({ owner, sent, keys }, { body_hash, bound }) =>
      redactedHash(sent) === body_hash &&
      Object.entries((bound ?? {}) as KeyedHashes).every(([name, verifier]) =>
        (keys as KeyRing).verify('receipt', `${owner.id} ${name}`, String(sent[name]), verifier),
      ),
  },
  /** A keyed hash of the body, since a short text can be guessed from a plain hash. */
  'keyed content': {
    bind({ key = '', sent, keys }) {
      const submission = (keys as KeyRing).mac('receipt', key, canonicalize(sent) ?? '');
      return { bodyHash: submission.hash, bound: { submission } };
    },
    matches({ key = '', sent, keys }, receipt) {
      const bound = receipt.bound as KeyedHashes | null;
      // A receipt of a session by an earlier release has a plain hash; an erased one matches nothing.
      if (bound === null) return redactedHash(sent) === receipt.body_hash;
      return (keys as KeyRing).verify('receipt', key, canonicalize(sent) ?? '', bound.submission);
    },
  },
};

/** Fields that hold a key or a secret, in any request body. */
const SECRETS = [
  'sign_in_key',
  'recovery_key',
  'new_sign_in_key',
  'new_recovery_key',
  'credential_secret',
] as const;

/** The hash of a body in which each secret counts as the text "redacted". */
function redactedHash(body: Readonly<Record<string, unknown>>): string {
  const redacted = { ...body };
  for (const name of SECRETS) if (name in redacted) redacted[name] = 'redacted';
  return contentHash(redacted);
}

/** A keyed hash of each secret of the body; null if it has none. */
function keyedSecrets({ owner, sent, keys }: IdempotentRequest): KeyedHashes | null {
  const present = SECRETS.filter((name) => typeof sent[name] === 'string');
  if (present.length === 0) return null;
  return Object.fromEntries(
    present.map((name) => [
      name,
      (keys as KeyRing).mac('receipt', `${owner.id} ${name}`, sent[name] as string),
    ]),
  );
}
