import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { memberOwner, moderatorOwner, SERVICE_OWNER } from '../../domain/owners.ts';
import { bootstrap, newAgent, newCredential, toAuthorization } from '../../harness/agent.ts';
import { addModerator, atDesk, decide, type Moderator, submit } from '../../harness/moderation.ts';
import { brief } from '../../harness/packets.ts';
import type { Append } from '../../platform/eventstore/append.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import type { Owner } from '../../platform/eventstore/owner.ts';
import { newToken } from '../../platform/keys/token.ts';
import { writeVerifier } from '../../projections/membership/verifiers.ts';
import { eraseCommand } from '../../services/guestbook/scheduled-commands.ts';
import { moderatorToken } from '../../services/moderation/staff/authenticate.ts';
import { revokeModerator } from '../../services/moderation/staff/moderators.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { type Service, startService } from '../support/service.ts';

/** One UUID is the id of one thing of each kind. The service has it by itself. */
const ID = SERVICE_OWNER.id;

type Row = Record<string, string>;
type Kind =
  | 'member'
  | 'credential'
  | 'artifact'
  | 'case'
  | 'case note'
  | 'note'
  | 'moderator'
  | 'service';

const KINDS_OF_STREAMS: readonly [RegExp, Kind][] = [
  [/^(member|disabling|session|passkey|profile|(comment|report)-(member|profile))-/, 'member'],
  [/^credential-/, 'credential'],
  [/^((comment|report)-)?artifact-/, 'artifact'],
  [/^((comment|report)-case_note|case-note)-/, 'case note'],
  [/^((comment|report)-)?case-/, 'case'],
  [/^(((comment|fold)-)?note|screening|telling)-/, 'note'],
  [/^moderator-/, 'moderator'],
  [/^(policy|queue)-/, 'service'],
];

const ofStream = ({ stream_id = '' }: Row) =>
  KINDS_OF_STREAMS.find(([pattern]) => pattern.test(stream_id))?.[1];

const ofSubject = ({ subject_type }: Row): Kind =>
  subject_type === 'profile'
    ? 'member'
    : subject_type === 'case_note'
      ? 'case note'
      : (subject_type as Kind);

const ofReceipt = ({ space, key }: Row): Kind =>
  space === 'moderation' ? 'moderator' : space === 'note' && key === ID ? 'note' : 'member';

const ofVerifier = ({ purpose }: Row): Kind =>
  purpose === 'credential' || purpose === 'moderator' ? purpose : 'member';

/**
 * Every table, and to what a row belongs. The id alone never says so: a column, or the table, gives the
 * kind. Null: the rows have no id that a client, a moderator or the service could share.
 */
const TABLES: Readonly<Record<string, Kind | null | ((row: Row) => Kind | null | undefined)>> = {
  activity: ofSubject,
  artifacts: 'artifact',
  case_members: 'case',
  case_notes: 'case note',
  case_reviews: 'case',
  case_submissions: 'case',
  cases: 'case',
  claim_times: 'moderator',
  // Those of other credentials are written apart from the requests, at any time.
  credential_uses: ({ credential_id }) => (credential_id === ID ? 'credential' : null),
  credentials: 'credential',
  // A decision on a record has no other id here than that of its event.
  decision_figures: ({ note_id }) => (note_id ? 'note' : null),
  ended_verifiers: 'credential',
  events: ofStream,
  feed: 'member',
  feed_heads: 'member',
  feed_restores: 'member',
  given_up_keys: null,
  handles: 'member',
  imported_notes: 'note',
  log_epochs: null,
  member_appeals: 'member',
  member_decisions: 'member',
  members: 'member',
  membership_totals: null,
  moderation_weeks: null,
  moderator_sessions: 'moderator',
  moderators: 'moderator',
  note_appeals: 'note',
  note_decisions: 'note',
  note_findings: 'note',
  note_fingerprints: 'note',
  note_leases: 'moderator',
  note_addresses: 'note',
  note_folds: 'note',
  note_reports: 'note',
  note_screenings: 'note',
  notes: 'note',
  // The ids of a message have their types beside them.
  notice_receivers: null,
  passkey_challenges: null,
  passkeys: 'member',
  policies: 'service',
  profiles: 'member',
  // Counts.
  queue_hours: null,
  rate_counters: null,
  // Counts.
  read_model_proofs: null,
  scheduled_backups: null,
  receipts: ofReceipt,
  record_decisions: ofSubject,
  record_reports: ofSubject,
  report_addresses: 'note',
  reported_records: ofSubject,
  sandbox: null,
  saved_views: 'moderator',
  schema_migrations: null,
  // Positions and hashes.
  seal_leaves: null,
  seal_tiles: null,
  seal_trees: null,
  server_keys: null,
  sessions: 'member',
  verifiers: ofVerifier,
  write_budgets: 'member',
  // Ids of events.
  write_marks: null,
};

/** Every row of every table, by what it belongs to. */
async function rowsByKind({ database }: Service): Promise<Map<Kind, string[]>> {
  const found: [Kind, string][] = [];
  for (const [table, kind] of Object.entries(TABLES)) {
    if (kind === null) continue;
    const { rows } = await database.pool.query<{ row: Row }>(
      `SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY to_jsonb(t)::text`,
    );
    for (const { row } of rows) {
      const of = typeof kind === 'string' ? kind : kind(row);
      if (of === null) continue;
      if (!of) throw new Error(`${table}: ${JSON.stringify(row)} belongs to nothing`);
      found.push([of, `${table} ${JSON.stringify(row)}`]);
    }
  }
  const groups = Map.groupBy(found, ([kind]) => kind);
  return new Map([...groups].map(([kind, all]) => [kind, all.map(([, row]) => row)]));
}

const append = (owner: Owner, stream: string, type: string, data: object, personal: object) =>
  ({
    owner,
    stream: `${stream}-${ID}`,
    version: 0,
    actor: owner.kind === 'member' ? { type: 'member', id: ID } : { type: 'service' },
    events: [{ type, data, personal }],
  }) as unknown as Append;

/** Adds a moderator with the id, which a random one would have in the service. */
async function addSameModerator(service: Service): Promise<Moderator> {
  const { store, keys } = service.core;
  const token = newToken(ID);
  const owner = moderatorOwner(ID);
  const added = { moderator_id: ID, role: 'moderator' };
  const verifier = keys.mac('moderator', ID, token.secret);
  await store.execute({
    load: null,
    decide: () => ({
      answer: null,
      appends: [append(owner, 'moderator', 'ModeratorAdded', added, { name: 'Ann' })],
      rows: [writeVerifier(owner, 'moderator', ID, verifier)],
    }),
  });
  return atDesk(service, { id: ID, token: moderatorToken(token) });
}

/** Adds an artifact, a case and a note on it, whose ids are random in the service. */
function addRecords({ core }: Service) {
  const policy_version = 'service-public-v1';
  const texts = { title: 'T', summary: 'S', objective: 'O', acceptance_criteria: ['A'] };
  const artifact = {
    artifact_id: ID,
    author_id: ID,
    kind: 'brief',
    supersedes_id: null,
    policy_version,
  };
  const packet = { title: 'T', content_hash: 'h', packet: JSON.stringify(brief()) };
  const opened = { case_id: ID, author_id: ID, artifact_id: null, policy_version };
  const noted = { case_id: ID, note_id: ID, policy_version, members: [ID] };
  const owner = memberOwner(ID);
  const appends = [
    append(owner, 'artifact', 'ArtifactPublished', artifact, packet),
    append(owner, 'case', 'CaseOpened', opened, texts),
    append(owner, 'case-note', 'CaseNoted', noted, { message: 'Words' }),
  ];
  return core.store.execute({ lock: [ID], load: null, decide: () => ({ answer: null, appends }) });
}

const ok = async (answer: Promise<{ status: number; text: string }>) => {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(text);
};

function changePolicy(service: Service, lead: Moderator) {
  const headers = { authorization: `Bearer ${lead.token}` };
  const body = { code: 'spam', title: 'New', text: randomUUID(), active: true };
  return ok(service.call('PUT', '/api/moderation/policies', { headers, body }));
}

/** A service in which the id is that of a member, a credential, records, a guest's note and a moderator. */
async function startShared(t: Parameters<typeof startService>[0]) {
  const service = await startService(t);
  const lea = await addModerator(service, 'Lea', 'lead');
  const ann = await addSameModerator(service);
  await changePolicy(service, lea);
  const member = await newAgent(service, undefined, { id: ID });
  const same = { ...newCredential(), credential_id: ID };
  const made = await bootstrap(service, member, same, ID);
  if (made.status !== 201) throw new Error(made.text);
  await addRecords(service);
  await submit(service, { id: ID, message: 'Call +1 555 0100' });
  await screenNote(service.core, { note_id: ID });
  const text = 'Words of a moderator';
  for (const type of ['note', 'member', 'artifact', 'case', 'case_note'])
    if ((await ann.post(`subjects/${type}/${ID}/comments`, { text })).status !== 201)
      throw new Error(`no comment on the ${type}`);
  const headers = { authorization: `Bearer ${ann.token}`, 'idempotency-key': ID };
  const claim = { headers, body: { note_ids: [ID] } };
  const claimed = await service.call('POST', '/api/moderation/claims', claim);
  if (claimed.body.claims?.length !== 1) throw new Error(claimed.text);
  await ann.post('claims/release', { lease_ids: [claimed.body.claims[0].lease_id] });
  return { service, lea, member };
}

type Setting = Awaited<ReturnType<typeof startShared>>;

interface Ending {
  /** What may change. The author of a call has its receipt, its feed and its budget. */
  changes: readonly Kind[];
  run(setting: Setting): Promise<unknown>;
}

const ENDINGS: Readonly<Record<string, Ending>> = {
  'the credential is revoked': {
    changes: ['credential', 'member'],
    run: ({ member }) =>
      ok(member.call('POST', '/api/v1/me/credentials/revoke', { credential_id: ID })),
  },
  'the artifact is withdrawn': {
    changes: ['artifact', 'member'],
    run: ({ member }) => ok(member.call('POST', `/api/v1/artifacts/${ID}/withdraw`, {})),
  },
  'the case note is removed': {
    changes: ['case note', 'member', 'credential'], // another member reports it
    run: async ({ service, lea }) => {
      const other = await newAgent(service);
      const report = { subject: { type: 'case_note', id: ID }, reason: 'spam' };
      await ok(other.call('POST', '/api/v1/reports', report));
      const { item } = (await lea.get(`subjects/case_note/${ID}`)).body;
      const remove = { action: 'remove', policy: 'spam', expected_version: item.version };
      await ok(lea.post(`subjects/case_note/${ID}/decisions`, remove));
    },
  },
  'the case is withdrawn': {
    changes: ['case', 'member'],
    run: async ({ member }) => {
      const { case: found } = (await member.call('GET', `/api/v1/cases/${ID}`)).body;
      const body = { expected_version: found.version };
      await ok(member.call('POST', `/api/v1/cases/${ID}/withdraw`, body));
    },
  },
  'the note is rejected and erased': {
    changes: ['note'],
    run: async ({ service, lea }) => {
      await ok(decide(lea, ID, 'reject'));
      const row = { note_id: ID, owner_id: ID, member_id: null };
      await handle(service.core.store, SERVICE_ACTOR, eraseCommand(row, 'retention'));
    },
  },
  'a policy changes': {
    changes: ['service'],
    run: ({ service, lea }) => changePolicy(service, lea),
  },
  'the member is disabled and enabled': {
    changes: ['member', 'credential', 'case'], // what the member had claimed
    run: async ({ lea }) => {
      await ok(lea.post(`members/${ID}/disable`, { policy: 'spam' }));
      await ok(lea.post(`members/${ID}/enable`, {}));
    },
  },
  'the moderator is revoked': {
    changes: ['moderator'],
    run: ({ service }) => revokeModerator(service.core, ID),
  },
  'the member is erased': {
    changes: ['member', 'credential', 'artifact', 'case', 'case note'],
    run: async ({ service, member }) => {
      const body = { confirm_handle: member.handle, erase_notes: true };
      // The first credential may have ended with a disabling.
      const credential = newCredential();
      await ok(bootstrap(service, member, credential));
      const headers = {
        authorization: toAuthorization(credential),
        'idempotency-key': randomUUID(),
      };
      await ok(service.call('POST', '/api/v1/me/delete', { body, headers }));
      await eraseMembers(service.core, { member_id: ID });
    },
  },
};

t.test('knows for every table to what its rows belong', async (t) => {
  const service = await startService(t);
  const { rows } = await service.database.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND NOT relispartition`,
  );
  const names = rows.map(({ name }) => name).sort();
  t.same(names, Object.keys(TABLES).sort(), 'list a new table in TABLES');
});

/** Every map and set of texts of the server code that changes, and what its keys are. */
const COLLECTIONS: Readonly<Record<string, string>> = {
  'platform/postgres/batch-statements.ts': 'texts of statements',
  'platform/eventstore/event.ts': 'types of events',
  'platform/http/accept.ts': 'media types or encodings of one header',
  'platform/http/invoke.ts': 'names of operations',
  'platform/http/mount.ts': 'paths and methods',
  'platform/http/openapi-growth.ts': 'names of schemas',
  'platform/http/openapi.ts': 'names of schemas',
  'platform/jobs/job-type.ts': 'queues',
  'platform/json.ts': 'names of members of one text',
  'platform/keys/key-ring.ts': 'server keys and purposes',
  'platform/limits/rate-limits.ts': 'addresses',
  'platform/limits/waiting-places.ts': 'kinds and ids of holders',
  'platform/postgres/client.ts': 'addresses of servers',
  'platform/postgres/coalescer.ts': 'names of statements',
  'platform/postgres/notifications.ts': 'ids of members, and topics, which are words',
  'platform/sql.ts': 'texts of statements',
  'platform/words.ts': 'characters',
  'platform/supervisor/procfile.ts': 'names of processes',
  'platform/telemetry/metrics-server.ts': 'paths of the metrics port',
  'platform/telemetry/metrics.ts': 'labels',
  'platform/tlog/tiles.ts': 'levels and numbers of tiles',
  'platform/tlog/tree-edge.ts': 'levels and numbers of tiles',
  'projections/projection.ts': 'types of events',
  'projections/rebuild/mend.ts': 'names of tables',
  'projections/rebuild/replace-rows.ts': 'keys of the rows of one table',
  'services/artifacts/fixture-files.ts': 'paths of one packet',
  'services/credentials/last-use.ts': 'ids of credentials',
  'services/discovery/inventory.ts': 'paths',
  'services/documents/agents-openapi.ts': 'names of schemas',
  'services/documents/reference/limits.ts': 'patterns',
  'services/documents/reference/markdown.ts': 'names of pages',
  'services/documents/reference/pages.ts': 'names of pages',
  'services/documents/reference/schema-view.ts': 'names of schemas',
  'services/moderation/claims/claims.ts': 'kinds and ids of subjects',
  'services/moderation/decisions/decide.ts': 'ids of notes of one request',
  'services/moderation/decisions/desk.ts': 'ids of notes of one request',
  'services/moderation/queue/entries.ts': 'kinds and ids of subjects',
  'services/moderation/queue/queue-counts.ts': 'views',
  'services/moderation/decisions/repeat-rewound.ts': 'ids of notes of one request',
  'services/moderation/stream/consoles.ts': 'kinds and ids of subjects; ids of moderators',
  'services/pages/site/shared-replies.ts': 'addresses of documents',
  'services/pages/build.ts': 'names of files',
  'services/protocols/a2a/methods.ts': 'names of methods',
  'services/screening/bayes.ts': 'words',
  'services/screening/fingerprint.ts': 'words',
  'services/screening/shape.ts': 'words',
  'workers/running/batches.ts': 'rows of one batch',
};

t.test('knows for every collection in memory what its keys are', async (t) => {
  const root = join(import.meta.dirname, '../..');
  const files = ['domain', 'platform', 'projections', 'services', 'workers'].flatMap((folder) =>
    globSync(`${folder}/**/*.ts`, { cwd: root }),
  );
  const found = files.filter((file) =>
    /new (?:Map|Set)<string/.test(readFileSync(join(root, file), 'utf8')),
  );
  t.same(found.sort(), Object.keys(COLLECTIONS).sort(), 'list a new collection in COLLECTIONS');
});

// Each ending meets the things of all other kinds: those that the member keeps come before the member's.
const forth = Object.keys(ENDINGS);
const back = [
  'the member is erased',
  'the moderator is revoked',
  'a policy changes',
  'the note is rejected and erased',
];
for (const order of [forth, back])
  t.test(`${order[0]}: nothing else with the same id changes, then or later`, async (t) => {
    const setting = await startShared(t);
    let before = await rowsByKind(setting.service);
    t.equal(before.size, 8, 'there are rows of each kind');
    for (const name of order) {
      const { changes, run } = ENDINGS[name] as Ending;
      await run(setting);
      const after = await rowsByKind(setting.service);
      for (const [kind, rows] of before)
        if (!changes.includes(kind))
          t.strictSame(after.get(kind), rows, `${name}: nothing of the ${kind} changes`);
      t.notSame(after, before, `${name}: something changes`);
      before = after;
    }
  });
