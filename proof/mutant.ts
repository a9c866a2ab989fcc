import { registerHooks } from 'node:module';

/** Faults that the checker must find: what stands in a file, and what is put in its place. */
const MUTANTS: Readonly<Record<string, { file: string; text: RegExp; instead: string }>> = {
  'no-lock': {
    file: 'services/eventstore/store.ts',
    text: /ORDER BY member_id FOR UPDATE/g,
    instead: 'ORDER BY member_id',
  },
  'no-receipt': {
    file: 'services/member-command.ts',
    text: /if \(receipt\) \{/g,
    instead: 'if (receipt && Date.now() < 0) {',
  },
  'plain-sequence': {
    file: 'projections/feed/feed.ts',
    text: /SELECT \$\{entry\.member\}, head\.sequence,/g,
    instead: "SELECT ${entry.member}, nextval('events_position_seq'),",
  },
};

export const MUTANT_NAMES = Object.keys(MUTANTS);

const chosen = MUTANTS[process.env.PROOF_MUTANT ?? ''];
if (chosen)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(chosen.file)) return loaded;
      const source = String(loaded.source);
      if (!chosen.text.test(source)) throw new Error(`no ${chosen.text} in ${chosen.file}`);
      return { ...loaded, source: source.replace(chosen.text, chosen.instead) };
    },
  });
