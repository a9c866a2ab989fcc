import type { Logger } from 'pino';
import type { z } from 'zod';
import * as jobs from '../../domain/guestbook/jobs.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import {
  type Command,
  defineCommand,
  handle,
  NOTHING_TO_DO,
} from '../../platform/eventstore/handle.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';
import { toLoggable } from '../../platform/telemetry/logger.ts';
import { inSpan } from '../../platform/telemetry/spans.ts';
import {
  findNote,
  type NoteOwner,
  type NoteRow,
  ownerOfNote,
} from '../../projections/guestbook/notes.ts';
import { joinFolds } from '../../projections/screening/fold-marks.ts';
import { type LookAlikeRow, lookAlikes } from '../../projections/screening/screenings.ts';
import type { Core } from '../../services/compose.ts';
import { fastApprovalCommand } from '../../services/guestbook/fast-approval.ts';
import { bayesFindings } from '../../services/screening/bayes.ts';
import { findingsIn, memberNamed, nameFindings } from '../../services/screening/findings.ts';
import { type Fingerprint, toFingerprints } from '../../services/screening/fingerprint.ts';
import { lookAlikeFindings } from '../../services/screening/look-alikes.ts';
import { type RecordScreening, screeningStreams } from '../../services/screening/screening.ts';
import { MAX_COUNTED } from '../../services/screening/sentences.ts';
import { trainedClassifier } from './trained-classifier.ts';

type Deps = Pick<Core, 'pool' | 'store' | 'keys' | 'config'>;
type Screened = Omit<RecordScreening, 'noteState' | 'corrections'>;

/**
 * Screens each note; returns how many. If one of several notes fails, it gets a separate job, so
 * that the others do not fail with it.
 */
export async function screenNotes(
  deps: Deps,
  asked: z.infer<typeof jobs.screenNote.schema>,
  logger: Logger,
): Promise<number> {
  const failed: string[] = [];
  let count = 0;
  for (const note_id of asked.note_ids)
    try {
      if (await inScreeningSpan(note_id, () => screenNote(deps, { note_id }))) count++;
    } catch (error) {
      if (asked.note_ids.length === 1) throw error;
      logger.warn({ note_id, error: toLoggable(error) }, 'note not screened yet');
      failed.push(note_id);
    }
  const retries = failed.map(jobs.separateScreeningJob);
  if (retries.length > 0)
    await handle(deps.store, SERVICE_ACTOR, {
      load: {},
      decide: () => ({ appends: [], jobs: retries, reply: () => true }),
    });
  return count;
}

const inScreeningSpan = <Result>(noteId: string, screen: () => Promise<Result>) =>
  inSpan(() => ({ name: 'screen note', attributes: { 'service.note.id': noteId } }), screen);

/**
 * Records the findings in a pending note in the log; of a note that was decided unscreened, its
 * fingerprint. Returns whether it recorded findings.
 */
export async function screenNote(deps: Deps, { note_id }: { note_id: string }): Promise<boolean> {
  const [note] = await query(deps.pool, findNote(note_id));
  if (!note || note.message === null) return false;
  const { message, name } = note;
  const fingerprints = toFingerprints(deps.keys, message);
  const [fingerprint] = fingerprints;
  if (!fingerprint) throw new Error('no server key to make a fingerprint with');
  if (note.state !== 'pending') {
    // A decision came first: only the text is remembered.
    const unscreened = { noteId: note_id, findings: [], words: {}, spans: {}, fingerprint };
    await handle(deps.store, SERVICE_ACTOR, recordCommand(note, unscreened));
    return false;
  }
  const guest = note.member_id === null ? (name ?? '') : '';
  const [bayes, candidates, namesakes] = await Promise.all([
    trainedClassifier(deps),
    query(deps.pool, candidatesOf(note_id, fingerprints)),
    query(deps.pool, memberNamed(guest)),
  ]);
  const named = nameFindings(guest, namesakes);
  const read = bayesFindings(bayes, message);
  const seen = findingsIn({ name: name ?? '', message });
  const screened = {
    noteId: note_id,
    findings: [
      ...lookAlikeFindings(message, candidates),
      ...read.findings,
      ...named.findings,
      ...seen.findings,
    ],
    words: { ...read.words, ...named.words, ...seen.words },
    spans: seen.spans,
    fingerprint,
  };
  const recorded = await handle(deps.store, SERVICE_ACTOR, recordCommand(note, screened));
  // After its commit, so that a fold that is made meanwhile either finds the fingerprint or is found.
  if (note.member_id === null) await query(deps.pool, joinFolds([note_id]));
  const { fastLane, undoWindowSeconds } = deps.config;
  if (fastLane && screened.findings.length === 0)
    await handle(deps.store, SERVICE_ACTOR, fastApprovalCommand(note, undoWindowSeconds));
  return recorded;
}

function candidatesOf(noteId: string, fingerprints: readonly Fingerprint[]): Sql<LookAlikeRow> {
  const wholes = fingerprints.map(({ whole }) => whole);
  const parts = fingerprints.flatMap((fingerprint) => fingerprint.parts);
  return lookAlikes(noteId, wholes, parts, MAX_COUNTED);
}

// Reads the note's row without a lock, so that a claim never waits for a screening. Locks the
// author, so that the note's words are not recorded after the account's deletion has erased them.
function recordCommand(
  screenedNote: NoteOwner & Pick<NoteRow, 'corrections'>,
  screened: Screened,
): Command<boolean> {
  const { member_id: author } = screenedNote;
  const owner = ownerOfNote(screenedNote);
  return defineCommand({
    ...(author ? { lock: [author] } : {}),
    load: {
      notes: findNote(screened.noteId),
      stream: screeningStreams.load(owner, screened.noteId),
    },
    decide({ notes: [note], stream }) {
      // The author has corrected the text meanwhile, and another job screens the new one.
      if (note?.corrections !== screenedNote.corrections) return NOTHING_TO_DO;
      const decided = stream.decide({
        ...screened,
        noteState: note.state,
        corrections: note.corrections,
      });
      if (isRefusal(decided) || decided.appends.length === 0) return NOTHING_TO_DO;
      return { appends: decided.appends, reply: () => true };
    },
  });
}
