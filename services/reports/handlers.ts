import { randomUUID } from 'node:crypto';
import { handle } from '../../platform/eventstore/handle.ts';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import type { ReceiptBody } from '../../platform/http/schemas.ts';
import { byBearer, type MemberDeps } from '../credentials/by-bearer.ts';
import { reportCommand } from '../guestbook/author-commands.ts';
import type { PublicationKind } from '../publications/publication-kind.ts';
import { reportsContract } from './contract.ts';
import { reportRecordCommand } from './report.ts';

export interface ReportsDeps extends MemberDeps {
  publicationKinds: readonly PublicationKind[];
}

/** To the reporter, a report is open until the feed announces the outcome. */
const received = (isNew: boolean, id: string) => (receipt: ReceiptBody) => {
  const report = { id, state: 'open' as const };
  const body = { status: 'received' as const, report, receipt };
  return isNew ? { status: 201 as const, body } : { status: 200 as const, body };
};

function reportsHandlers(deps: ReportsDeps): Handlers<typeof reportsContract> {
  const { store, publicationKinds } = deps;
  return {
    'report.create': (call) => {
      const { memberId } = call.principal;
      const { subject, reason, details = null } = call.body;
      const kind = publicationKinds.find(({ type }) => type === subject.type);
      const report = { reportId: randomUUID(), reporter: { memberId }, reason, details };
      const command = kind
        ? reportRecordCommand(kind, memberId, call.body, received)
        : reportCommand(subject.id, report, received);
      return handle(store, byBearer(deps, call), command);
    },
  };
}

export const routes = (deps: ReportsDeps): readonly Routes[] => [
  implement(reportsContract, reportsHandlers(deps)),
];
