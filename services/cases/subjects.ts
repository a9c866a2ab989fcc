import { caseGate, livingMembersOfCase, membersOfCase } from '../../projections/case-members.ts';
import { authorsOf, caseNoteRecords, caseRecords } from '../../projections/records.ts';
import { isRefusal, type Refusal, replay } from '../eventstore/decider.ts';
import { nobody, type Subject } from '../subject.ts';
import { caseDecider } from './case.ts';
import { caseNote } from './case-note.ts';

type Refused = Refusal<'state_conflict' | 'not_found'>;

/** What becomes of a case is told to everybody who took part in it. */
export const caseSubject: Subject = {
  type: 'case',
  stream: (id) => `case-${id}`,
  records: caseRecords,
  gate: caseGate,
  members: membersOfCase,
  concerned: livingMembersOfCase,
  decide(facts, command, members) {
    const decided = caseDecider.decide(replay(caseDecider, facts), {
      ...command,
      members,
    });
    return isRefusal(decided) ? (decided as Refused) : decided;
  },
};

/** Its stream belongs to who wrote it, who alone is told. */
export const caseNoteSubject: Subject = {
  type: 'case_note',
  stream: (id) => `case-note-${id}`,
  records: caseNoteRecords,
  members: (id) => authorsOf(caseNoteRecords([id])),
  concerned: nobody,
  decide(facts, command) {
    const decided = caseNote.decide(replay(caseNote, facts), command);
    return isRefusal(decided) ? (decided as Refused) : decided;
  },
};
