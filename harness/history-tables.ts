import type pg from 'pg';
import { figuresOfNotes } from '../projections/moderation/decision-figures.ts';

/**
 * Fills the read models from the events of `writeHistory` by INSERT … SELECT alone: the baseline of
 * a rebuild, and a fast way to full tables. Handles only the events that `writeHistory` writes.
 */
export async function fillTables(client: pg.ClientBase): Promise<void> {
  for (const text of STATEMENTS) await client.query(text);
}

/** Fills the other tables: verifiers that match no key, sessions, receipts, budgets, counters. */
export async function fillPrimaryData(client: pg.ClientBase): Promise<void> {
  for (const text of PRIMARY) await client.query(text);
}

const PRIMARY = [
  `INSERT INTO verifiers (owner_id, purpose, subject_id, key_id, hash)
    SELECT member_id, purpose, member_id, 1, md5(member_id::text) || md5(purpose)
    FROM members, unnest(ARRAY['sign-in', 'recovery']) purpose`,
  `INSERT INTO verifiers (owner_id, purpose, subject_id, key_id, hash)
    SELECT member_id, 'credential', credential_id, 1, md5(credential_id::text) || md5('')
    FROM credentials`,
  `INSERT INTO ended_verifiers (credential_id, member_id, reason, ended_at, key_id, hash)
    SELECT gen_random_uuid(), member_id, 'revoked', created_at, 1, md5(credential_id::text) || md5('')
    FROM credentials`,
  `INSERT INTO credential_uses (member_id, credential_id, last_used_on)
    SELECT member_id, credential_id, created_at::date FROM credentials`,
  `INSERT INTO sessions (session_id, member_id, key_epoch, key_id, hash, started_at, expires_at,
      ended_at)
    SELECT (s.data->>'session_id')::uuid, s.owner_id, 1, 1, md5(s.stream_id) || md5(''),
      s.recorded_at, (s.data->>'expires_at')::timestamptz, e.recorded_at
    FROM events s JOIN events e ON e.owner_id = s.owner_id AND e.stream_id = s.stream_id
      AND e.type = 'SessionEnded' WHERE s.type = 'SessionStarted'`,
  `INSERT INTO receipts (owner_id, space, key, operation, route, body_hash, http_status, reply,
      event_ids, recorded_at)
    SELECT owner_id, CASE type WHEN 'NoteSubmitted' THEN 'note' ELSE 'api' END, event_id, 'seeded',
      'POST /', md5(event_id::text), 200, '{"status": "done"}', ARRAY[event_id], recorded_at
    FROM events WHERE type IN ('CredentialCreated', 'ProfilePublished', 'NoteSubmitted')`,
  `INSERT INTO write_budgets (member_id, day, used)
    SELECT member_id, current_date - day, 5 FROM members, generate_series(0, 2) day`,
  `INSERT INTO rate_counters (kind, bucket, window_start, count)
    SELECT 'key', md5(member_id::text), date_trunc('day', now()), 1 FROM members`,
];

const uuid = (name: string, of = 'e') => `(${of}.data->>'${name}')::uuid`;
const time = (name: string, of = 'e') => `(${of}.data->>'${name}')::timestamptz`;
const texts = (name: string) => `ARRAY(SELECT jsonb_array_elements_text(e.personal->'${name}'))`;
const later = (as: string, type: string) =>
  `LEFT JOIN events ${as} ON ${as}.type = '${type}' AND ${as}.owner_id = e.owner_id
    AND ${as}.stream_id = e.stream_id`;
const MODERATOR = `CASE WHEN e.actor->>'type' = 'moderator' THEN (e.actor->>'id')::uuid END`;

const STATEMENTS = [
  `UPDATE membership_totals SET active = (SELECT count(*) FROM events
    WHERE type = 'MemberRegistered')`,
  `INSERT INTO members (member_id, handle, state, key_epoch, registered_at)
    SELECT e.owner_id, e.personal->>'handle', 'active', 1, e.recorded_at FROM events e
    WHERE e.type = 'MemberRegistered'`,
  `INSERT INTO handles (hash, key_id, member_id)
    SELECT e.data->>'handle_hash', (e.data->>'handle_key_id')::int, e.owner_id FROM events e
    WHERE e.type = 'MemberRegistered'`,
  `INSERT INTO moderators (moderator_id, name, role, state, added_at)
    SELECT ${uuid('moderator_id')}, e.personal->>'name', e.data->>'role', 'active', e.recorded_at
    FROM events e WHERE e.type = 'ModeratorAdded'`,
  `INSERT INTO credentials (credential_id, member_id, scopes, state, created_at, expires_at,
      key_epoch, revoked_at, revoked_reason)
    SELECT ${uuid('credential_id')}, e.owner_id,
      ARRAY(SELECT jsonb_array_elements_text(e.data->'scopes')),
      CASE WHEN r.type IS NULL THEN 'active' ELSE 'revoked' END, e.recorded_at,
      ${time('expires_at')}, 1, r.recorded_at, r.data->>'reason'
    FROM events e ${later('r', 'CredentialRevoked')} WHERE e.type = 'CredentialCreated'`,
  `INSERT INTO notes (note_id, owner_id, member_id, experience, attribution, parent_id, name,
      message, state, version, submitted_at, approved_at, settled_at, settled_by, reported_at)
    SELECT ${uuid('note_id')}, e.owner_id, ${uuid('member_id')}, e.data->>'experience',
      e.data->>'attribution', ${uuid('parent_id')}, e.personal->>'name', e.personal->>'message',
      CASE WHEN a.type IS NOT NULL THEN 'approved' WHEN r.type IS NOT NULL THEN 'rejected'
        ELSE 'pending' END,
      coalesce(p.stream_version, a.stream_version, r.stream_version, 1), e.recorded_at,
      a.recorded_at, coalesce(a.recorded_at, r.recorded_at),
      (coalesce(a.actor, r.actor)->>'id')::uuid, p.recorded_at
    FROM events e ${later('a', 'NoteApproved')} ${later('r', 'NoteRejected')}
      ${later('p', 'NoteReported')}
    WHERE e.type = 'NoteSubmitted'`,
  `INSERT INTO note_reports (report_id, note_id, member_id, reason, details, state, reported_at)
    SELECT ${uuid('report_id')}, ${uuid('note_id')}, ${uuid('member_id')}, e.data->>'reason',
      e.personal->>'details', 'open', e.recorded_at
    FROM events e WHERE e.type = 'NoteReported'`,
  `INSERT INTO note_decisions (event_id, note_id, moderator_id, decision, decided_at, version,
      policy, message, batch_id, claimed_at, told_at)
    SELECT e.event_id, ${uuid('note_id')}, ${MODERATOR},
      CASE e.type WHEN 'NoteApproved' THEN 'approved' ELSE 'rejected' END, e.recorded_at,
      e.stream_version, e.data->>'policy', e.personal->>'message', ${uuid('batch_id')},
      ${time('claimed_at')}, t.recorded_at
    FROM events e LEFT JOIN events t ON t.type = 'DecisionTold' AND t.owner_id = e.owner_id
      AND t.stream_id = 'telling-' || e.event_id
    WHERE e.type IN ('NoteApproved', 'NoteRejected')`,
  `INSERT INTO note_screenings (note_id, rules_version, band, findings, words, spans,
      screened_at)
    SELECT ${uuid('note_id')}, (e.data->>'rules_version')::int, e.data->>'band',
      e.data->'findings', e.personal->'words', e.personal->'spans',
      e.recorded_at
    FROM events e WHERE e.type = 'NoteScreened'`,
  `INSERT INTO note_findings (note_id, code)
    SELECT DISTINCT ${uuid('note_id')}, finding->>'code'
    FROM events e, jsonb_array_elements(e.data->'findings') finding WHERE e.type = 'NoteScreened'`,
  `INSERT INTO note_fingerprints (hash, screened_at, note_id)
    SELECT DISTINCT hash::bigint, e.recorded_at, ${uuid('note_id')}
    FROM events e, LATERAL (SELECT e.personal->'fingerprint'->>'whole' AS hash UNION ALL
      SELECT jsonb_array_elements_text(e.personal->'fingerprint'->'parts')) f
    WHERE e.type = 'NoteScreened'`,
  `INSERT INTO profiles (member_id, display_name, summary, links, capabilities, state, version,
      published_at, removal_told)
    SELECT e.owner_id, e.personal->>'display_name', e.personal->>'summary', ${texts('links')},
      ${texts('capabilities')}, 'published', e.stream_version, e.recorded_at, false
    FROM events e WHERE e.type = 'ProfilePublished'`,
  `INSERT INTO artifacts (artifact_id, author_id, kind, title, content_hash, packet, supersedes_id,
      state, version, created_at)
    SELECT ${uuid('artifact_id')}, ${uuid('author_id')}, e.data->>'kind', e.personal->>'title',
      e.personal->>'content_hash', (e.personal->>'packet')::json, ${uuid('supersedes_id')},
      'published', e.stream_version, e.recorded_at
    FROM events e WHERE e.type = 'ArtifactPublished'`,
  `INSERT INTO cases (case_id, author_id, title, summary, objective, acceptance_criteria,
      artifact_id, state, version, created_at, updated_at, claimant_id, lease_expires_at,
      submission_id)
    SELECT ${uuid('case_id')}, ${uuid('author_id')}, e.personal->>'title', e.personal->>'summary',
      e.personal->>'objective', ${texts('acceptance_criteria')}, ${uuid('artifact_id')},
      CASE WHEN a.type IS NOT NULL THEN 'accepted' WHEN s.type IS NOT NULL THEN 'submitted'
        WHEN c.type IS NOT NULL THEN 'claimed' ELSE 'open' END,
      1 + (c.type IS NOT NULL)::int + (s.type IS NOT NULL)::int + (a.type IS NOT NULL)::int,
      e.recorded_at,
      coalesce(a.recorded_at, s.recorded_at, c.recorded_at, e.recorded_at),
      CASE WHEN a.type IS NULL THEN ${uuid('member_id', 'c')} END,
      CASE WHEN s.type IS NULL THEN ${time('lease_expires_at', 'c')} END,
      ${uuid('submission_id', 's')}
    FROM events e ${later('c', 'CaseClaimed')} ${later('s', 'CaseSubmitted')}
      ${later('a', 'CaseAccepted')}
    WHERE e.type = 'CaseOpened'`,
  `INSERT INTO case_members (case_id, member_id, took_part_at)
    SELECT ${uuid('case_id')},
      CASE e.type WHEN 'CaseOpened' THEN ${uuid('author_id')} WHEN 'CaseNoted' THEN e.owner_id
        ELSE ${uuid('member_id')} END, max(e.recorded_at)
    FROM events e
    WHERE e.type IN ('CaseOpened', 'CaseClaimed', 'CaseSubmitted', 'CaseReviewed', 'CaseNoted')
    GROUP BY 1, 2`,
  `INSERT INTO case_submissions (submission_id, case_id, member_id, summary, artifact_id, created_at,
      accepted)
    SELECT ${uuid('submission_id')}, ${uuid('case_id')}, ${uuid('member_id')},
      e.personal->>'summary', ${uuid('artifact_id')}, e.recorded_at, a.type IS NOT NULL
    FROM events e ${later('a', 'CaseAccepted')} WHERE e.type = 'CaseSubmitted'`,
  `INSERT INTO case_reviews (review_id, case_id, submission_id, member_id, decision, binding,
      comment, created_at)
    SELECT ${uuid('review_id')}, ${uuid('case_id')}, ${uuid('submission_id')},
      ${uuid('member_id')}, e.data->>'decision', (e.data->>'binding')::boolean,
      e.personal->>'comment', e.recorded_at
    FROM events e WHERE e.type = 'CaseReviewed'`,
  `INSERT INTO case_notes (note_id, case_id, member_id, message, state, version, created_at)
    SELECT ${uuid('note_id')}, ${uuid('case_id')}, e.owner_id, e.personal->>'message', 'published',
      e.stream_version, e.recorded_at
    FROM events e WHERE e.type = 'CaseNoted'`,
  `INSERT INTO record_reports (report_id, subject_type, subject_id, author_id, member_id, reason,
      details, state, reported_at)
    SELECT ${uuid('report_id')}, e.data->'subject'->>'type', (e.data->'subject'->>'id')::uuid,
      e.owner_id, ${uuid('member_id')}, e.data->>'reason', e.personal->>'details', 'open',
      e.recorded_at
    FROM events e WHERE e.type = 'RecordReported'`,
  `INSERT INTO reported_records (subject_type, subject_id, author_id, reported_at, version)
    SELECT e.data->'subject'->>'type', (e.data->'subject'->>'id')::uuid, e.owner_id, e.recorded_at,
      e.stream_version
    FROM events e WHERE e.type = 'RecordReported'`,
  `INSERT INTO activity (entry_id, type, occurred_at, actor, subject_type, subject_id, author_id)
    SELECT e.event_id, told.type, e.recorded_at,
      CASE WHEN e.actor->>'type' = 'moderator' THEN '{"type": "moderator"}' ELSE e.actor END,
      split_part(told.type, '.', 1), coalesce((e.data->>told.id)::uuid, e.owner_id),
      CASE WHEN e.data->>'note_id' IS DISTINCT FROM e.owner_id::text THEN e.owner_id END
    FROM events e JOIN (VALUES ('NoteApproved', 'note.approved', 'note_id'),
      ('ProfilePublished', 'profile.published', ''),
      ('ArtifactPublished', 'artifact.published', 'artifact_id'),
      ('CaseOpened', 'case.opened', 'case_id'), ('CaseClaimed', 'case.claimed', 'case_id'),
      ('CaseSubmitted', 'case.submitted', 'case_id'),
      ('CaseAccepted', 'case.accepted', 'case_id')) told (event, type, id) ON told.event = e.type`,
  `INSERT INTO feed (member_id, sequence, event_id, type, occurred_at, subject_type, subject_id,
      actor, data)
    SELECT member_id, row_number() OVER (PARTITION BY member_id ORDER BY position, place),
      event_id, type, recorded_at, subject_type, subject_id, actor, data
    FROM (${feedEntries().join(' UNION ALL ')}) entry (position, event_id, recorded_at, member_id,
      place, type, subject_type, subject_id, actor, data)`,
  `INSERT INTO feed_heads (member_id, sequence)
    SELECT m.owner_id, coalesce(f.sequence, 0) FROM events m
    LEFT JOIN (SELECT member_id, max(sequence) AS sequence FROM feed GROUP BY 1) f
      ON f.member_id = m.owner_id
    WHERE m.type = 'MemberRegistered'`,
  figuresOfNotes('notes'),
];

/** One SELECT per kind of event: its entries in members' feeds. */
function feedEntries(): string[] {
  const part = (...names: string[]) =>
    `jsonb_build_object(${names.map((name) => `'${name}', e.data->'${name}'`).join(', ')})`;
  const entry = (
    event: string,
    type: string,
    [subject, id]: readonly [string, string],
    data: string,
    { member = 'e.owner_id', place = '0', actor = 'e.actor', from = '', where = 'true' } = {},
  ) => `SELECT e.position, e.event_id, e.recorded_at, ${member}, ${place}, ${type}, '${subject}',
    ${id}, ${actor}, ${data} FROM events e ${from} WHERE e.type = '${event}' AND ${where}`;
  const each = {
    member: 'm.id::uuid',
    place: 'm.place',
    from: `, jsonb_array_elements_text(e.data->'members') WITH ORDINALITY m (id, place)`,
  };
  const [aCase, note] = [
    ['case', uuid('case_id')],
    ['note', uuid('note_id')],
  ] as const;
  const credential = ['credential', uuid('credential_id')] as const;
  const session = ['session', uuid('session_id')] as const;
  const end = `jsonb_build_object('expires_at', floor(extract(epoch FROM ${time('expires_at')}))::bigint)`;
  const outcome = part('review_id', 'submission_id', 'member_id');
  return [
    entry('MemberRegistered', `'member.registered'`, ['member', 'e.owner_id'], `'{}'`),
    entry('SessionStarted', `'session.started'`, session, end),
    entry('SessionEnded', `'session.ended'`, session, part('reason')),
    entry('CredentialCreated', `'credential.created'`, credential, `${part('scopes')} || ${end}`),
    entry('CredentialRevoked', `'credential.revoked'`, credential, part('reason')),
    entry(
      'ProfilePublished',
      `'profile.published'`,
      ['profile', 'e.owner_id'],
      `jsonb_build_object('version', e.stream_version)`,
    ),
    entry(
      'ArtifactPublished',
      `'artifact.published'`,
      ['artifact', uuid('artifact_id')],
      part('kind', 'supersedes_id'),
    ),
    entry('CaseOpened', `'case.opened'`, aCase, part('artifact_id')),
    entry('CaseClaimed', `'case.claimed'`, aCase, part('member_id', 'lease_expires_at'), each),
    entry(
      'CaseSubmitted',
      `'case.submitted'`,
      aCase,
      part('submission_id', 'member_id', 'artifact_id'),
      each,
    ),
    entry(
      'CaseReviewed',
      `'case.reviewed'`,
      aCase,
      `${outcome} || ${part('decision', 'binding')}`,
      each,
    ),
    entry('CaseAccepted', `'case.accepted'`, aCase, outcome, each),
    entry(
      'CaseNoted',
      `'case.noted'`,
      aCase,
      `jsonb_build_object('note_id', e.data->'note_id', 'member_id', e.owner_id)`,
      each,
    ),
    entry(
      'RecordReported',
      `'report.received'`,
      ['report', uuid('report_id')],
      `jsonb_build_object('subject', e.data->'subject', 'reason', e.data->'reason',
        'already_reviewed', e.data->'silent')`,
      { member: uuid('member_id') },
    ),
    entry('NoteSubmitted', `'note.submitted'`, note, part('experience', 'parent_id'), {
      where: `e.data->>'member_id' IS NOT NULL`,
    }),
    entry(
      'DecisionTold',
      `'note.' || (e.data->>'outcome')`,
      note,
      `jsonb_build_object('decision_id', e.data->'of') ||
        CASE e.data->>'outcome' WHEN 'rejected' THEN ${part('policy', 'message', 'appeal_until')}
        ELSE ${part('parent_id')} END`,
      { member: uuid('member_id'), where: `e.data->>'member_id' IS NOT NULL` },
    ),
    entry(
      'DecisionTold',
      `'note.replied'`,
      ['note', uuid('parent_id')],
      `jsonb_build_object('reply_id', e.data->'note_id')`,
      {
        member: uuid('parent_author_id'),
        place: '1',
        actor: `'{"type": "guest"}'::jsonb`,
        where: `e.data->>'outcome' = 'approved' AND e.data->>'member_id' IS NULL
          AND e.data->>'parent_author_id' IS NOT NULL`,
      },
    ),
  ];
}
