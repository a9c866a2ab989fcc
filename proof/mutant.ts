import { registerHooks } from 'node:module';

interface Edit {
  file: string;
  text: RegExp;
  instead: string;
}

/** Faults that the checker must find: what stands in a file, and what is put in its place. */
export const MUTANTS: Readonly<Record<string, readonly Edit[]>> = {
  'no-lock': [
    {
      file: 'services/eventstore/transaction.ts',
      text: /ORDER BY member_id FOR UPDATE( SKIP LOCKED)?/g,
      instead: 'ORDER BY member_id',
    },
  ],
  // Looked for by the command, and kept unique by storage: both are the check.
  'no-receipt': [
    {
      file: 'services/member-command.ts',
      text: /if \(receipt\) \{/g,
      instead: 'if (receipt && Date.now() < 0) {',
    },
    {
      file: 'services/eventstore/append.ts',
      text: /(\$\{receipt\.eventIds\}, \$\{now\}\))`/g,
      instead: '$1 ON CONFLICT DO NOTHING`',
    },
  ],
  'plain-sequence': [
    {
      file: 'projections/feed/feed.ts',
      text: /before \+ row_number\(\) OVER \(PARTITION BY member_id ORDER BY turn\)/g,
      instead: "nextval('events_position_seq')",
    },
  ],
  'no-capacity-lock': [
    {
      file: 'projections/members.ts',
      text: /(FROM membership_totals WHERE id = 1) FOR UPDATE/g,
      instead: '$1',
    },
  ],
  // The bearer proven before the lock, and not once more under it.
  'no-second-proof': [
    {
      file: 'services/member-command.ts',
      text: /return holder\?\.member_id === principal\.memberId \? null/g,
      instead: 'return holder !== null ? null',
    },
  ],
};

export const MUTANT_NAMES = Object.keys(MUTANTS);

const chosen = MUTANTS[process.env.PROOF_MUTANT ?? ''] ?? [];
if (chosen.length > 0)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const edits = chosen.filter(({ file }) => url.endsWith(file));
      if (edits.length === 0) return loaded;
      let source = String(loaded.source);
      for (const { file, text, instead } of edits) {
        if (source.search(text) < 0) throw new Error(`no ${text} in ${file}`);
        source = source.replace(text, instead);
      }
      return { ...loaded, source };
    },
  });
