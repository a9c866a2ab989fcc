import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import type { Handlers } from '../../platform/http/route.ts';
import { memberBody } from '../../platform/http/schemas.ts';
import { query } from '../../platform/postgres/query.ts';
import { refuse } from '../../platform/refusal.ts';
import { findMember } from '../../projections/membership/members.ts';
import { feedHead } from '../../projections/updates/exported-feed.ts';
import { type MemberCommandParts, memberCommand } from '../credentials/run-member-command.ts';
import type { Closing } from '../membership/account-closure.ts';
import type { ExportSection } from '../membership/export-section.ts';
import type { accountContract } from './contract.ts';
import { deleteAccount } from './delete.ts';
import { exportDocument } from './export.ts';
import { sectionsOf } from './sections.ts';

export interface AccountParts extends MemberCommandParts {
  config: MemberCommandParts['config'] & Pick<Config, 'undoWindowSeconds'>;
  pool: pg.Pool;
  /** The closings of all capabilities; the one that deactivates the member comes last. */
  closings: readonly Closing[];
  /** The export sections of all capabilities. */
  exportSections: readonly ExportSection[];
}

export function accountHandlers(parts: AccountParts): Handlers<ReturnType<typeof accountContract>> {
  const { pool, config, closings, exportSections } = parts;

  return {
    'account.export': async ({ principal }) => {
      const { memberId } = principal;
      // Query before the response starts, so that a database failure is still an ordinary 503.
      const [member] = await query(pool, findMember(memberId));
      const [head] = await query(pool, feedHead(memberId));
      if (!member?.handle) return refuse('credential_not_accepted');
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
      const sections = sectionsOf(exportSections, sequence);
      return {
        status: 200,
        type: 'application/json; charset=utf-8',
        headers: { 'content-disposition': 'attachment; filename="export.json"' },
        stream: exportDocument(pool, principal, start, sections, config.undoWindowSeconds),
      };
    },

    'account.delete': (call) =>
      memberCommand(parts, call, deleteAccount(closings, call.principal, call.body)),
  };
}
