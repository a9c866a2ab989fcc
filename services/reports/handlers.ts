import type { Handlers } from '../../platform/http/route.ts';
import { type MemberCommandParts, memberCommand } from '../credentials/run-member-command.ts';
import type { Subject } from '../publications/publication-kind.ts';
import type { reportsContract } from './contract.ts';
import { reportNote, reportRecord } from './report.ts';

export interface ReportsParts extends MemberCommandParts {
  subjects: readonly Subject[];
}

export function reportsHandlers(parts: ReportsParts): Handlers<typeof reportsContract> {
  return {
    'report.create': (call) => {
      const { memberId } = call.principal;
      const subject = parts.subjects.find(({ type }) => type === call.body.subject.type);
      const command = subject
        ? reportRecord(subject, memberId, call.body)
        : reportNote(memberId, call.body);
      return memberCommand(parts, call, command);
    },
  };
}
