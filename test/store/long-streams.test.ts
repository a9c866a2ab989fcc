import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import t from 'tap';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import { caseKind } from '../../services/cases/publication-kinds.ts';
import { addComment, deleteComment } from '../../services/moderation/comments/comment.ts';
import { recordCommand } from '../../services/moderation/decisions/decide-record.ts';
import { notifyRemovalCommand, notifyWithdrawalCommand } from '../../services/reports/resolve.ts';
import { type Reads, readsOf } from '../support/command-reads.ts';
import { testDatabase } from '../support/database.ts';

const SIZES = [2, 1000, 10_000];
const UNDO_SECONDS = 600;

const AUTHOR = randomUUID();
const MODERATOR = randomUUID();
interface Case {
  id: string;
  /** The number of events in each of its streams. */
  events: number;
  /** The version that a moderator reads. */
  version: number;
  /** The id of its oldest comment. */
  comment: string;
}

/**
 * Fills a case of which each stream has this many events. All reports but the last are settled, and a
 * moderator removed and restored the case long ago.
 */
async function fillCase(client: pg.Client, events: number): Promise<Case> {
  const [id, comment, removal] = [randomUUID(), randomUUID(), randomUUID()];
  const insert = (stream: string, type: string, more = {}) =>
    client.query(
      `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
      SELECT $1, $2, n, CASE n WHEN 1 THEN $3::uuid ELSE gen_random_uuid() END,
        CASE WHEN $5 AND n = 1 THEN 'CaseRemoved' WHEN $5 AND n = 2 THEN 'CaseRestored' ELSE $4 END,
        $6::jsonb, CASE WHEN $5 AND n > 2 THEN '{"type": "member"}'::jsonb
          ELSE jsonb_build_object('type', $8::text, 'id', $9::text) END,
        now() - make_interval(hours => 2, secs => -n / 100)
      FROM generate_series(1, $7::int) n`,
      [
        AUTHOR,
        stream,
        stream.startsWith('comment') ? comment : stream.startsWith('case') ? removal : randomUUID(),
        type,
        stream.startsWith('case'),
        JSON.stringify({ subject: { type: 'case', id }, case_id: id, policy: 'spam', ...more }),
        events,
        stream.startsWith('report') ? 'member' : 'moderator',
        MODERATOR,
      ],
    );
  await insert(`case-${id}`, 'CaseLeaseExtended');
  await insert(`report-case-${id}`, 'RecordReported');
  await insert(`claim-case-${id}`, 'ClaimTakenOver');
  await insert(`comment-case-${id}`, 'CommentAdded');
  await client.query(
    `INSERT INTO cases (case_id, author_id, title, summary, objective, acceptance_criteria, state,
        version, created_at, updated_at)
      VALUES ($1, $2, '', '', '', '{}', 'open', $3, now(), now())`,
    [id, AUTHOR, events],
  );
  await client.query(
    `INSERT INTO record_decisions (event_id, subject_type, subject_id, author_id, moderator_id,
        decision, policy, decided_at, undone_at, told_at)
      SELECT CASE n WHEN 1 THEN $3::uuid ELSE gen_random_uuid() END, 'case', $1, $2, $4,
        CASE n % 2 WHEN 0 THEN 'kept' ELSE 'removed' END, 'spam', now() - n * interval '1 second',
        CASE n WHEN 1 THEN NULL ELSE now() END, now()
      FROM generate_series(1, $5::int) n`,
    [id, AUTHOR, removal, MODERATOR, events],
  );
  await client.query(
    `INSERT INTO record_reports (report_id, subject_type, subject_id, author_id, member_id, reason,
        state, reported_at, settled_by_event, told_at)
      SELECT gen_random_uuid(), 'case', $1, $2, gen_random_uuid(), 'spam',
        CASE n WHEN 1 THEN 'open' WHEN 2 THEN 'silent' ELSE 'kept' END, now(),
        CASE WHEN n > 2 THEN gen_random_uuid() END, CASE WHEN n > 2 THEN now() END
      FROM generate_series(1, $3::int) n`,
    [id, AUTHOR, events],
  );
  await client.query(
    `INSERT INTO reported_records (subject_type, subject_id, author_id, reported_at, version)
      VALUES ('case', $1, $2, now(), $3)`,
    [id, AUTHOR, events],
  );
  return { id, events, version: 2 * events, comment };
}

const decide = (action: object) => (item: Case) =>
  recordCommand(
    caseKind,
    item.id,
    { ...action, expected_version: item.version } as never,
    UNDO_SECONDS,
  );
const subject = ({ id }: Case) => ({ type: 'case' as const, id });

const COMMANDS: Readonly<Record<string, (item: Case) => Reads>> = {
  'a removal': decide({ action: 'remove', policy: 'spam', take_over: true }),
  'a removal of a record that was read two changes ago': (item) =>
    decide({ action: 'remove', policy: 'spam' })({ ...item, version: item.version - 2 }),
  'a dismissal of reports': decide({ action: 'keep' }),
  'a restoration': decide({ action: 'restore' }),
  'an undo': decide({ action: 'undo', of: randomUUID() }),
  'a notification of a removal': ({ id, events }) =>
    notifyRemovalCommand(caseKind, id, events, UNDO_SECONDS),
  'a notification of a withdrawal': ({ id }) => notifyWithdrawalCommand(caseKind, id),
  'a comment': (item) => addComment(subject(item), 'Look', [caseKind]),
  'a deletion of a comment': (item) => deleteComment(subject(item), item.comment, [caseKind]),
};

/** A page of an index more or less, as rows happen to lie on them, for each of the reads of a command. */
const SLACK_BLOCKS = 30;

t.test('a moderator’s command on a record costs the same with any number of events', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    await client.query(
      `INSERT INTO members (member_id, handle, state, key_epoch, registered_at)
        VALUES ('${AUTHOR}', 'ada', 'active', 1, now())`,
    );
    const items: Case[] = [];
    for (const events of SIZES) items.push(await fillCase(client, events));
    await client.query('VACUUM ANALYZE');
    await client.query(BY_INDEX);
    for (const mode of ['force_generic_plan', 'force_custom_plan'])
      for (const [name, make] of Object.entries(COMMANDS)) {
        const costs = [];
        for (const item of items) costs.push(await readsOf(client, make(item), mode));
        const [small, ...larger] = costs;
        for (const [index, { rows, blocks }] of larger.entries()) {
          const size = `${SIZES[index + 1]} events, ${mode}`;
          // A refusal names the last decision only as far as it is among the latest acts of moderators.
          t.ok(
            rows <= (small?.rows ?? 0),
            `${name}: ${rows} rows instead of ${small?.rows}, ${size}`,
          );
          t.ok(
            blocks <= (small?.blocks ?? 0) + SLACK_BLOCKS,
            `${name}: ${blocks} blocks instead of ${small?.blocks}, ${size}`,
          );
        }
      }
  });
});
