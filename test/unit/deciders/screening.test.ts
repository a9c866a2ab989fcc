import t from 'tap';
import { NoteScreened } from '../../../domain/screening/events.ts';
import { RULES_VERSION } from '../../../domain/screening/rules.ts';
import { replay } from '../../../platform/eventstore/decider.ts';
import { type RecordScreening, screening } from '../../../services/screening/screening.ts';

const noteId = '7a3f2f5e-6c1d-4a8b-9a51-0d5a1a3c9e10';
const command: RecordScreening = {
  noteId,
  noteState: 'pending',
  corrections: 0,
  findings: [{ code: 'links', count: 2 }],
  words: { profanity: ['darn'] },
  spans: { profanity: [[0, 4]] },
  fingerprint: { key_id: 1, whole: '-12', parts: ['3', '4'] },
};

function decide(version: number, given: Partial<RecordScreening> = {}) {
  const decided = screening.decide(
    { corrections: 0, rulesVersion: version, fingerprinted: version > 0 },
    { ...command, ...given },
  );
  if ('refused' in decided) throw new Error('a screening is never refused');
  return decided;
}

t.test('records a screening once per version of the rules', async (t) => {
  const [event] = decide(0);
  if (!event) throw new Error('nothing was recorded');
  t.strictSame(NoteScreened.data.parse(event.data), {
    note_id: noteId,
    rules_version: RULES_VERSION,
    band: 'look',
    findings: [{ code: 'links', count: 2 }],
  });
  t.strictSame(NoteScreened.personal.parse(event.personal), {
    words: command.words,
    spans: command.spans,
    fingerprint: command.fingerprint,
  });
  t.strictSame(decide(RULES_VERSION - 1).length, 1);
  t.strictSame(decide(RULES_VERSION), []);
  t.strictSame(decide(RULES_VERSION + 1), [], 'a screening by newer rules stays');
  t.strictSame(replay(screening, [event, event]), {
    corrections: 0,
    rulesVersion: RULES_VERSION,
    fingerprinted: true,
  });
});

t.test('records only the fingerprint of a note that was decided unscreened, once', async (t) => {
  for (const noteState of ['approved', 'rejected', 'removed']) {
    const [event, ...more] = decide(0, { noteState });
    t.match(event, { type: 'NoteFingerprinted', personal: { fingerprint: command.fingerprint } });
    t.strictSame(more, []);
    t.strictSame(decide(RULES_VERSION, { noteState }), [], noteState);
    if (event) t.match(replay(screening, [event]), { rulesVersion: 0, fingerprinted: true });
  }
  for (const noteState of ['none', 'withdrawn'])
    t.strictSame(decide(0, { noteState }), [], noteState);
});

t.test('forgets what it knew of a text that its author corrected', async (t) => {
  const [event] = decide(RULES_VERSION, { corrections: 1 });
  t.match(event, { type: 'NoteScreened', data: { corrections: 1 } });
  if (!event) return;
  const state = replay(screening, [...decide(0), event]);
  t.match(state, { corrections: 1, rulesVersion: RULES_VERSION });
  t.strictSame(screening.decide(state, { ...command, corrections: 1 }), []);
  t.match(decide(RULES_VERSION, { noteState: 'rejected', corrections: 1 }), [
    { type: 'NoteFingerprinted', data: { corrections: 1 } },
  ]);
});
