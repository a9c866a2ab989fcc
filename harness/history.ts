import type pg from 'pg';

export interface HistorySize {
  members: number;
  /** Notes per member; guests write a quarter of them. Each note yields about four events. */
  notes: number;
}

/** Approximate number of events in a history of this size. */
export const eventsIn = ({ members, notes }: HistorySize): number =>
  Math.round(members * (12.6 + notes * 3.8));

/**
 * Writes the log of a busy service with SQL: members with credentials, sessions, profiles, packets
 * and cases, and notes with screening, decisions and reports. The events are in a possible order
 * over 300 days, the last an hour ago. Temporary tables keep the generated ids.
 */
export async function writeHistory(client: pg.ClientBase, size: HistorySize): Promise<void> {
  const values = { M: size.members, N: size.notes, STEPS: size.members * (16 + size.notes * 4) };
  for (const text of [...TABLES, EVENTS])
    await client.query(text.replace(/\b(M|N|STEPS)\b/g, (name) => String(values[name as 'M'])));
}

const id = 'gen_random_uuid()';
const member = (expression: string) => `jsonb_build_object('type', 'member', 'id', ${expression})`;
const SCOPES = `'["updates:read"]'::jsonb`;
const TIME = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;
const iso = (time: string) => `to_char((${time}) AT TIME ZONE 'UTC', ${TIME})`;

// A member's events follow one another by slot; within a slot, the members take turns.
const AT = `date_trunc('milliseconds', now() - interval '1 hour' - interval '300 days'
  + (slot * M + n)::float8 / STEPS * interval '300 days')`;

const TABLES = [
  `CREATE TEMP TABLE h_moderators AS SELECT n, ${id} AS id FROM generate_series(1, 3) n`,
  `CREATE TEMP TABLE h_members AS
    SELECT n, ${id} AS id, ${id} AS first_credential, ${id} AS credential, ${id} AS session,
      ${id} AS artifact, ${id} AS second_artifact, ${id} AS case_id, ${id} AS submission,
      ${id} AS review, ${id} AS case_note
    FROM generate_series(1, M) n`,
  `CREATE UNIQUE INDEX ON h_members (n)`,
  `CREATE TEMP TABLE h_notes AS
    SELECT m.n, k, ${id} AS id, ${id} AS decision, ${id} AS report,
      CASE WHEN (m.n + k) % 4 = 0 THEN NULL ELSE m.id END AS member_id,
      (ARRAY['service', 'service', 'observatory', 'two-clerks'])[1 + m.n % 4] AS experience,
      CASE WHEN (m.n * N + k) % 100 = 0 THEN 'pending' WHEN k % 10 = 9 THEN 'rejected'
        ELSE 'approved' END AS state
    FROM h_members m, generate_series(1, N) k`,
  `ALTER TABLE h_notes ADD COLUMN parent_id uuid, ADD COLUMN parent_author_id uuid`,
  `CREATE INDEX ON h_notes (n, k)`,
  'ANALYZE h_members, h_notes',
  // Every fifth note of a member replies to the member's previous note, if that note is public.
  `UPDATE h_notes r SET parent_id = p.id, parent_author_id = p.member_id FROM h_notes p
    WHERE r.n = p.n AND r.k = p.k + 1 AND r.k % 5 = 3 AND p.state = 'approved'`,
];

/** One SELECT per kind of event: owner, stream, stream version, type and payload. */
const KINDS: readonly string[] = [
  `SELECT id, 'moderator-' || id, 1, ${id}, 'ModeratorAdded',
    jsonb_build_object('moderator_id', id, 'role', (ARRAY['triage', 'moderator', 'lead'])[n]),
    jsonb_build_object('name', 'Moderator ' || n), '{"type": "service"}'::jsonb, n, -1
    FROM h_moderators`,
  of('h_members m', {
    stream: `'member-' || m.id`,
    type: 'MemberRegistered',
    data: `jsonb_build_object('handle_hash', md5(m.id::text) || md5(m.n::text), 'handle_key_id', 1)`,
    personal: `jsonb_build_object('handle', 'member_' || m.n)`,
    slot: 0,
  }),
  ...['first_credential', 'credential'].map((column, index) =>
    of('h_members m', {
      stream: `'credential-' || m.${column}`,
      type: 'CredentialCreated',
      data: `jsonb_build_object('credential_id', m.${column}, 'scopes', ${SCOPES}, 'expires_at',
        ${iso(index === 0 ? `${AT} + interval '1 day'` : `now() + interval '1 day'`)},
        'key_epoch', 1, 'replaces', NULL)`,
      slot: 1 + index,
    }),
  ),
  of('h_members m', {
    stream: `'credential-' || m.first_credential`,
    version: 2,
    type: 'CredentialRevoked',
    data: `jsonb_build_object('credential_id', m.first_credential, 'reason', 'revoked')`,
    slot: 3,
  }),
  of('h_members m', {
    stream: `'session-' || m.session`,
    type: 'SessionStarted',
    data: `jsonb_build_object('session_id', m.session, 'expires_at', ${iso(`${AT} + interval '30 minutes'`)})`,
    slot: 4,
  }),
  of('h_members m', {
    stream: `'session-' || m.session`,
    version: 2,
    type: 'SessionEnded',
    data: `jsonb_build_object('session_id', m.session, 'reason', 'signed_out')`,
    slot: 5,
  }),
  of('h_members m', {
    stream: `'profile-' || m.id`,
    type: 'ProfilePublished',
    data: `'{"policy_version": "service-public-v1"}'::jsonb`,
    personal: `jsonb_build_object('display_name', 'Member ' || m.n, 'summary',
      repeat('What I do. ', 10), 'links', '[]'::jsonb, 'capabilities', '["reading"]'::jsonb)`,
    slot: 6,
  }),
  ...['artifact', 'second_artifact'].map((column, index) =>
    of('h_members m', {
      stream: `'artifact-' || m.${column}`,
      type: 'ArtifactPublished',
      data: `jsonb_build_object('artifact_id', m.${column}, 'author_id', m.id, 'kind',
        '${index === 0 ? 'brief' : 'result'}', 'supersedes_id', NULL, 'policy_version',
        'service-public-v1')`,
      personal: `jsonb_build_object('title', 'Packet ' || m.n, 'content_hash',
        md5(m.id::text) || md5(m.n::text), 'packet', json_build_object('summary',
          'What packet' || m.n || ' is about')::text)`,
      slot: 7 + index,
    }),
  ),
  of('h_members m', {
    stream: `'case-' || m.case_id`,
    type: 'CaseOpened',
    data: `jsonb_build_object('case_id', m.case_id, 'author_id', m.id, 'artifact_id', NULL,
      'policy_version', 'service-public-v1')`,
    personal: `jsonb_build_object('title', 'Case ' || m.n, 'summary', 'What happens in case' || m.n,
      'objective', 'Find it', 'acceptance_criteria', '["A test"]'::jsonb)`,
    slot: 9,
  }),
  ...caseEvents(),
  of('h_members m JOIN h_members o ON o.n = m.n % M + 1', {
    owner: 'o.id',
    stream: `'case-note-' || m.case_note`,
    type: 'CaseNoted',
    data: `jsonb_build_object('case_id', m.case_id, 'note_id', m.case_note, 'policy_version',
      'service-public-v1', 'members', jsonb_build_array(m.id, o.id))`,
    personal: `jsonb_build_object('message', 'A word on it')`,
    actor: member('o.id'),
    slot: 14,
    where: 'm.n % 3 = 0',
  }),
  of('h_members m JOIN h_members o ON o.n = m.n % M + 1', {
    stream: `'report-artifact-' || m.artifact`,
    type: 'RecordReported',
    data: `jsonb_build_object('subject', jsonb_build_object('type', 'artifact', 'id', m.artifact),
      'report_id', m.review, 'member_id', o.id, 'reason', 'spam', 'silent', false)`,
    personal: `'{"details": null}'::jsonb`,
    actor: member('o.id'),
    slot: 15,
    where: 'm.n % 50 = 0',
  }),
  ...noteEvents(),
];

function caseEvents(): string[] {
  const from = 'h_members m JOIN h_members o ON o.n = m.n % M + 1';
  const both = `'members', jsonb_build_array(m.id, o.id)`;
  const claim = `'case_id', m.case_id, 'member_id', o.id, ${both}`;
  const outcome = `${claim}, 'review_id', m.review, 'submission_id', m.submission`;
  const stream = `'case-' || m.case_id`;
  const claimant = member('o.id');
  return [
    of(from, {
      stream,
      version: 2,
      type: 'CaseClaimed',
      data: `jsonb_build_object(${claim}, 'lease_seconds', 3600, 'lease_expires_at',
        ${iso(`now() + interval '1 day'`)})`,
      actor: claimant,
      slot: 10,
      where: 'm.n % 4 >= 1',
    }),
    of(from, {
      stream,
      version: 3,
      type: 'CaseSubmitted',
      data: `jsonb_build_object(${claim}, 'submission_id', m.submission, 'artifact_id', NULL,
        'policy_version', 'service-public-v1')`,
      personal: `jsonb_build_object('summary', 'It is done')`,
      actor: claimant,
      slot: 11,
      where: 'm.n % 4 >= 2',
    }),
    of(from, {
      stream,
      version: 4,
      type: 'CaseReviewed',
      data: `jsonb_build_object('case_id', m.case_id, 'review_id', m.review, 'submission_id',
        m.submission, 'member_id', m.id, 'decision', 'accept', 'binding', true, 'policy_version',
        'service-public-v1', ${both})`,
      personal: `jsonb_build_object('comment', 'Well done')`,
      slot: 12,
      where: 'm.n % 4 = 3',
    }),
    of(from, {
      stream,
      version: 5,
      type: 'CaseAccepted',
      data: `jsonb_build_object(${outcome})`,
      slot: 13,
      where: 'm.n % 4 = 3',
    }),
  ];
}

function noteEvents(): string[] {
  const from = `h_notes m JOIN h_moderators d ON d.n = 2 + m.k % 2`;
  const owner = 'coalesce(m.member_id, m.id)';
  const moderator = `jsonb_build_object('type', 'moderator', 'id', d.id)`;
  const slot = (more: number) => `16 + (m.k - 1) * 4 + ${more}`;
  const stream = `'note-' || m.id`;
  const review = `'note_id', m.id, 'claimed_at', NULL`;
  return [
    of(from, {
      owner,
      stream,
      type: 'NoteSubmitted',
      data: `jsonb_build_object('note_id', m.id, 'experience', m.experience, 'attribution',
        CASE WHEN m.member_id IS NULL THEN 'guest' ELSE 'member' END, 'parent_id', m.parent_id,
        'member_id', m.member_id)`,
      personal: `jsonb_build_object('name', '', 'message', 'A note of the usual length, which says
        hello and what brought its author here: word' || m.n || ' and word' || m.n || 'x' || m.k)`,
      actor: `CASE WHEN m.member_id IS NULL THEN '{"type": "guest"}'::jsonb
        ELSE ${member('m.member_id')} END`,
      slot: slot(0),
    }),
    of(from, {
      owner,
      stream: `'screening-' || m.id`,
      type: 'NoteScreened',
      data: `jsonb_build_object('note_id', m.id, 'rules_version', 1, 'band', 'clear', 'findings',
        CASE WHEN (m.n + m.k) % 10 = 0 THEN '[{"code": "profanity", "count": 1}]' ELSE '[]' END::jsonb)`,
      personal: `jsonb_build_object('words', '{}'::jsonb, 'fingerprint', jsonb_build_object(
        'key_id', 1, 'whole', hashtextextended(m.id::text, 0)::text, 'parts', jsonb_build_array(
          hashtextextended(m.id::text, 1)::text, hashtextextended(m.id::text, 2)::text)))`,
      actor: `'{"type": "service"}'::jsonb`,
      slot: slot(1),
    }),
    of(from, {
      owner,
      stream,
      version: 2,
      event: 'm.decision',
      type: 'NoteApproved',
      data: `jsonb_build_object(${review}, 'parent_author_id', m.parent_author_id)`,
      actor: moderator,
      slot: slot(2),
      where: `m.state = 'approved'`,
    }),
    of(from, {
      owner,
      stream,
      version: 2,
      event: 'm.decision',
      type: 'NoteRejected',
      data: `jsonb_build_object(${review}, 'policy', 'spam')`,
      personal: `'{"message": null}'::jsonb`,
      actor: moderator,
      slot: slot(2),
      where: `m.state = 'rejected'`,
    }),
    of(from, {
      owner,
      stream: `'telling-' || m.decision`,
      type: 'DecisionTold',
      data: `jsonb_build_object('note_id', m.id, 'of', m.decision, 'outcome', m.state, 'policy',
        CASE WHEN m.state = 'rejected' THEN 'spam' END, 'message', false, 'experience',
        m.experience, 'member_id', m.member_id, 'parent_id', m.parent_id, 'parent_author_id',
        m.parent_author_id, 'appeal_until', CASE WHEN m.state = 'rejected' THEN
          ${iso(`now() - interval '1 day'`)} END, 'reports', '[]'::jsonb)`,
      actor: `'{"type": "moderator"}'::jsonb`,
      slot: slot(3),
      where: `m.state <> 'pending' AND (m.member_id IS NOT NULL OR m.parent_author_id IS NOT NULL)`,
    }),
    of(from, {
      owner,
      stream,
      version: 3,
      type: 'NoteReported',
      data: `jsonb_build_object('note_id', m.id, 'report_id', m.report, 'member_id', NULL, 'reason',
        'spam', 'silent', false)`,
      personal: `'{"details": null}'::jsonb`,
      actor: `'{"type": "guest"}'::jsonb`,
      slot: slot(3),
      where: `m.state = 'approved' AND (m.n + m.k) % 40 = 4`,
    }),
  ];
}

interface Kind {
  owner?: string;
  stream: string;
  version?: number;
  event?: string;
  type: string;
  data: string;
  personal?: string;
  actor?: string;
  slot: number | string;
  where?: string;
}

function of(from: string, kind: Kind): string {
  const { owner = 'm.id', stream, version = 1, event = id, type, data, slot, where } = kind;
  const { personal = 'NULL::jsonb', actor = member('m.id') } = kind;
  const fields = [owner, stream, version, event, `'${type}'`, data, personal, actor, 'm.n', slot];
  // Times inside the payload refer to the event's own slot.
  const select = `SELECT ${fields.join(', ')} FROM ${from} WHERE ${where ?? 'true'}`;
  return select.replaceAll(AT, AT.replace('slot', String(slot)).replace('+ n)', '+ m.n)'));
}

const EVENTS = `
  INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, personal, actor,
    recorded_at)
  SELECT owner_id, stream_id, stream_version, event_id, type, data, personal, actor, ${AT}
  FROM (${KINDS.join('\nUNION ALL\n')}) happened (owner_id, stream_id, stream_version, event_id,
    type, data, personal, actor, n, slot)
  ORDER BY slot, n, stream_version`;
