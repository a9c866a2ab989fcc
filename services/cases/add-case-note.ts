import { randomUUID } from 'node:crypto';
import { atTime, caseDecider } from '../../domain/cases/case.ts';
import { caseNote } from '../../domain/cases/case-note.ts';
import type { CaseRefusal } from '../../domain/cases/commands.ts';
import { isLapsed } from '../../domain/cases/lease.ts';
import { affectedMembersOfCase } from '../../domain/cases/member-commands.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { membersOfCase } from '../../projections/cases/case-members.ts';
import { defineMemberCommand, type MemberCommand } from '../credentials/run-member-command.ts';
import { caseBody } from './case-body.ts';
import { type CaseOutcome, caseAppends, caseLoad, loadedCase } from './run-case-command.ts';

/** Adds a note in a separate stream; if the case's lease has expired, records its end first. */
export function addCaseNote(
  caseId: string,
  memberId: string,
  body: { message: string; policy_version: string },
): MemberCommand<201, CaseOutcome<'noted'>, CaseRefusal> {
  const noteId = randomUUID();
  return defineMemberCommand({
    find: membersOfCase(caseId),
    load: caseLoad(caseId, null),
    decide({ rows, now }) {
      const found = loadedCase(rows);
      if (isRefusal(found)) return found;
      const { row, state, version, members } = found;
      const decided = caseNote.decide(caseNote.initial, {
        type: 'AddCaseNote',
        caseId,
        noteId,
        memberId,
        message: body.message,
        policyVersion: body.policy_version,
        state: atTime(state, now).status,
        removed: state.removed,
        members,
      });
      if (isRefusal(decided)) return decided;
      const affected = affectedMembersOfCase({ members, memberId });
      const ended = caseDecider.decide(state, { type: 'EndLease', now, members: affected });
      if (isRefusal(ended)) return ended;
      const actor = { type: 'member' as const, id: memberId };
      return {
        status: 201,
        appends: [
          ...caseAppends(state, version, ended, actor),
          {
            owner: memberOwner(memberId),
            stream: `case-note-${noteId}`,
            version: 0,
            actor,
            events: decided,
          },
        ],
        body: (receipt) => ({
          status: 'noted',
          case: caseBody({ ...row, lapsed: isLapsed(row.state, row.lease_expires_at, now) }),
          receipt,
        }),
      };
    },
  });
}
