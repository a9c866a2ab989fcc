import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import type { Handlers } from '../../platform/http/route.ts';
import { memberBody } from '../../platform/http/schemas.ts';
import { createWaitingPlaces } from '../../platform/limits/waiting-places.ts';
import { query } from '../../platform/postgres/query.ts';
import { refuse } from '../../platform/refusal.ts';
import { whenAborted } from '../../platform/when-aborted.ts';
import { findMember } from '../../projections/membership/members.ts';
import { feedHead } from '../../projections/updates/exported-feed.ts';
import { type MemberCommandDeps, runMemberCommand } from '../credentials/run-member-command.ts';
import type { AccountClosure } from '../membership/account-closure.ts';
import type { ExportSection } from '../membership/export-section.ts';
import type { accountContract } from './contract.ts';
import { deleteAccount } from './delete.ts';
import { exportDocument } from './export.ts';
import { toSections } from './sections.ts';

/**
 * Exports that a process streams at a time, one for each credential. More would share the connections
 * of the pool until batches met their deadline, which cuts a document that has begun.
 */
const EXPORTS_AT_A_TIME = 4;

export interface AccountDeps extends MemberCommandDeps {
  config: MemberCommandDeps['config'] & Pick<Config, 'undoWindowSeconds'>;
  pool: pg.Pool;
  /** The closures of all capabilities, except for the deactivation of the member. */
  accountClosures: readonly AccountClosure[];
  /** The export sections of all capabilities. */
  exportSections: readonly ExportSection[];
}

export function accountHandlers(deps: AccountDeps): Handlers<ReturnType<typeof accountContract>> {
  const { pool, config, accountClosures, exportSections } = deps;
  const exports = createWaitingPlaces({ perHolder: 1, total: EXPORTS_AT_A_TIME });

  return {
    'account.export': async ({ principal, request }) => {
      const { memberId } = principal;
      // Query before the response starts, so that a database failure is still an ordinary 503.
      const [member] = await query(pool, findMember(memberId));
      const [head] = await query(pool, feedHead(memberId));
      if (!member?.handle) return refuse('credential_not_accepted');
      const place = exports.take({ kind: 'credential', id: principal.credentialId });
      if (typeof place === 'string') return refuse('overloaded');
      whenAborted(request.gone(), place.leave);
      const sequence = head?.sequence ?? 0;
      const start = {
        status: 'ok',
        exported_at: principal.provenAt.toISOString(),
        feed_sequence: sequence,
        member: {
          ...memberBody(memberId, member.handle),
          registered_at: member.registered_at.toISOString(),
        },
      };
      const sections = toSections(exportSections, sequence);
      return {
        status: 200,
        type: 'application/json; charset=utf-8',
        headers: { 'content-disposition': 'attachment; filename="export.json"' },
        stream: exportDocument(pool, principal, start, sections, config.undoWindowSeconds),
      };
    },

    'account.delete': (call) =>
      runMemberCommand(deps, call, deleteAccount(accountClosures, call.principal, call.body)),
  };
}
