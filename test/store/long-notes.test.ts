import { randomUUID } from 'node:crypto';
import t from 'tap';
import { noteStream } from '../../domain/guestbook/words.ts';
import { addModerator, decide, type Moderator, submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { findMemberReport, reportTotals } from '../../projections/guestbook/note-reports.ts';
import { findNote, type NoteRow, ownerOfNote } from '../../projections/guestbook/notes.ts';
import { authorCommand, correctCommand } from '../../services/guestbook/author-commands.ts';
import { fastApprovalCommand } from '../../services/guestbook/fast-approval.ts';
import { notifyAuthorCommand } from '../../services/guestbook/notify-author.ts';
import { scheduledCommand } from '../../services/guestbook/scheduled-commands.ts';
import { decisionOn, undoCommand } from '../../services/moderation/decisions/commands.ts';
import { reviewCommand } from '../../services/moderation/decisions/decide.ts';
import { historyOf, noteStreams } from '../../services/moderation/decisions/history.ts';
import { blocksOf } from '../support/blocks.ts';
import { type Reads, readsOf } from '../support/command-reads.ts';
import { type Service, startService } from '../support/service.ts';

/** Adds reports of guests to a note, more than a guest may make, in one batch. */
async function addReports({ core }: Service, id: string, count: number, more: object = {}) {
  const [row] = await query(core.pool, findNote(id));
  if (!row) throw new Error(`no note ${id}`);
  const events = Array.from({ length: count }, () => ({
    type: 'NoteReported' as const,
    data: {
      note_id: id,
      report_id: randomUUID(),
      member_id: null,
      reason: 'spam',
      silent: false,
      ...more,
    },
    personal: { details: null },
  }));
  const owner = ownerOfNote(row);
  await core.store.execute({
    lock: [owner.id],
    load: null,
    decide: () => ({
      answer: null,
      appends: [
        { owner, stream: noteStream(id), version: row.version, actor: { type: 'guest' }, events },
      ],
    }),
  });
}

const UNDO_SECONDS = 600;
const DESK = { undoSeconds: UNDO_SECONDS, fingerprint: () => ({ whole: '0', parts: [] }) as never };

/** A note of which all reports but three were dismissed. */
interface LongNote {
  id: string;
  row: NoteRow;
  /** The events of its approval and of the dismissal. */
  approval: string;
  kept: string;
  version: number;
  /** The cursor of an earlier page of its history. */
  history: string;
}

const act = async (by: Moderator, id: string, action: string, more: object = {}) => {
  const { version: expected_version } = (await by.get(`notes/${id}`)).body.item;
  const decided = () => by.post(`notes/${id}/decisions`, { action, expected_version, ...more });
  let made = await decided();
  // A busy machine may need more time for thousands of reports than a request has.
  while (made.status === 503) made = await decided();
  t.equal(made.status, 201, made.text);
  return made.body.event_id as string;
};

t.test('reads the same of a note with any number of settled reports', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const bea = await signedIn(service);
  const notes: LongNote[] = [];
  for (const reports of [150, 3000]) {
    const { id } = await submitAs(service, bea);
    const approval = (await decide(ann, id, 'approve')).body.event_id;
    for (let added = 0; added < reports; added += 150) await addReports(service, id, 150);
    const kept = await act(ann, id, 'keep');
    await addReports(service, id, 2, { reason: 'abuse' });
    await addReports(service, id, 1, { silent: true });
    const { item, history_before } = (await ann.get(`notes/${id}`)).body;
    const [row] = await query(service.core.pool, findNote(id));
    if (!row) throw new Error('no note');
    notes.push({ id, row, approval, kept, version: item.version, history: history_before });
  }
  await service.database.pool.query('VACUUM ANALYZE');
  const decideOn = (note: LongNote, action: object) =>
    reviewCommand(
      decisionOn(note.id, { ...action, expected_version: note.version } as never),
      DESK,
    );
  const undo = ({ id: note_id }: LongNote, event_id: string, decision: 'approved' | 'kept') =>
    reviewCommand(
      undoCommand({ event_id, note_id, decision }, UNDO_SECONDS, { expectedVersion: null }),
      DESK,
    );
  const never = () => ({ type: 'EscalateOldNote' as const, now: new Date() });
  const reads: Readonly<Record<string, (note: LongNote) => Reads>> = {
    report: ({ id }) => ({
      load: { totals: reportTotals(id), former: findMemberReport(id, randomUUID()) },
    }),
    keep: (note) => decideOn(note, { action: 'keep' }),
    removal: (note) => decideOn(note, { action: 'remove', policy: 'spam' }),
    'undo of the approval': (note) => undo(note, note.approval, 'approved'),
    'undo of the dismissal': (note) => undo(note, note.kept, 'kept'),
    withdrawal: ({ id }) => authorCommand(id, never as never, null),
    correction: ({ id }) => correctCommand(id, bea.id, 'Hello again', UNDO_SECONDS, () => null),
    'scheduled command': ({ row }) => scheduledCommand(row, never),
    'approval by the service': ({ row }) => fastApprovalCommand(row, UNDO_SECONDS),
    'notification of the approval': ({ row, approval }) =>
      notifyAuthorCommand(row, { eventId: approval, refusedAgain: null }, UNDO_SECONDS),
  };
  await withConnection(service.database.url, async (client) => {
    await client.query(BY_INDEX);
    for (const mode of ['force_generic_plan', 'force_custom_plan']) {
      for (const [name, make] of Object.entries(reads)) {
        const costs = [];
        for (const note of notes) costs.push(await readsOf(client, make(note), mode));
        const [few, many] = costs;
        t.ok(few && many && many.rows <= few.rows, `${name}: ${few?.rows} and ${many?.rows} rows`);
        t.ok(
          few && many && many.blocks <= few.blocks + 15,
          `${name}: ${few?.blocks} and ${many?.blocks} blocks, ${mode}`,
        );
      }
      for (const earlier of [false, true]) {
        const costs = [];
        for (const { row, history } of notes) {
          const page = historyOf(noteStreams(row), earlier ? history : undefined);
          if (isRefusal(page)) throw new Error(page.refused);
          costs.push((await blocksOf(client, page, mode)).blocks);
        }
        const [few = 0, many = 0] = costs;
        t.ok(many <= few + 60, `history, earlier ${earlier}: ${few} and ${many} blocks, ${mode}`);
      }
    }
  });
});
