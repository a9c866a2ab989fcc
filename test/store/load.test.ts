import t from 'tap';
import {
  completeLoad,
  derive,
  findsOf,
  flattenReads,
  type Load,
  loadAfter,
  memberReadsOf,
  shapeRows,
} from '../../platform/eventstore/load.ts';
import { definePlan } from '../../platform/eventstore/plan.ts';
import { LostRace } from '../../platform/eventstore/transaction.ts';
import { sql } from '../../platform/sql.ts';
import { createBareStore } from '../support/bare-store.ts';
import { testDatabase } from '../support/database.ts';

const note = sql`SELECT 'note'`;
const member = sql`SELECT 'member'`;
const parent = sql`SELECT 'parent'`;

t.test('reads statements in order and returns their rows in the same shape', (t) => {
  const loads: [load: Load, reads: unknown[], rows: unknown[][], shape: unknown][] = [
    [null, [], [], []],
    [note, [note], [[1, 2]], [1, 2]],
    [{ note, member }, [note, member], [[1], []], { note: [1], member: [] }],
    // A skipped read takes no rows from the reads that follow.
    [{ note: null, member }, [member], [[2]], { note: [], member: [2] }],
    [
      { plan: { note, parent }, list: [member, { parent: null }, note] },
      [note, parent, member, note],
      [[1], [2], [3], [4]],
      { plan: { note: [1], parent: [2] }, list: [[3], { parent: [] }, [4]] },
    ],
    // Names in a load may equal the property names of a statement.
    [{ text: note, values: member }, [note, member], [[1], [2]], { text: [1], values: [2] }],
  ];
  for (const [load, reads, rows, shape] of loads) {
    t.same(flattenReads(load), reads);
    t.same(shapeRows(load, rows), shape);
  }
  t.same(
    shapeRows({ note, list: [member] }, []),
    { note: [], list: [[]] },
    'no rows give an empty shape',
  );
  t.end();
});

t.test('a load is complete when the reads it depends on have run', (t) => {
  const load = {
    note,
    of: loadAfter(member, (found) => (found.length > 0 ? [parent, parent] : null)),
    list: [loadAfter(parent, (found) => ({ note, parent: found.length > 1 ? parent : null }))],
  };
  t.same(findsOf(load), [member, parent]);
  t.throws(() => flattenReads(load));
  t.same(completeLoad(load, [[], [1]]), { note, of: null, list: [{ note, parent: null }] });
  const complete = completeLoad(load, [[1], [1, 2]]);
  t.same(complete, { note, of: [parent, parent], list: [{ note, parent }] });
  t.same(flattenReads(complete), [note, parent, parent, note, parent]);
  t.same(shapeRows(complete, [[1], [2], [3], [4], [5]]), {
    note: [1],
    of: [[2], [3]],
    list: [{ note: [4], parent: [5] }],
  });
  // Names in a load may equal the property names of a dependent load.
  t.same(findsOf({ find: note, load: member }), []);
  t.end();
});

t.test('a derived value is computed from its reads, and finds members to lock', (t) => {
  const count = derive(
    { note, parent },
    (rows) => Object.values(rows).flat().length,
    member as never,
  );
  const load = {
    count,
    note,
    later: derive(
      loadAfter(parent, () => note),
      (rows) => rows,
    ),
  };
  t.same(memberReadsOf(load), [member]);
  t.same(findsOf(load), [parent]);
  const complete = completeLoad(load, [[1]]);
  t.same(flattenReads(complete), [note, parent, note, note]);
  t.same(shapeRows(complete, [[1, 2], [3], [4], [5]]), { count: 3, note: [4], later: [5] });
  t.end();
});

t.test(
  'a derived value that finds a lost race is loaded again, on the same connection',
  async (t) => {
    const { url, pool } = await testDatabase(t);
    const store = createBareStore(pool, url);
    const backends: number[] = [];
    const backend = derive(sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`, ([row]) => {
      backends.push(row?.pid ?? 0);
      if (backends.length < 3) throw new LostRace('a report came meanwhile');
      return row?.pid;
    });
    const plan = definePlan({
      load: { backend },
      decide: ({ rows }) => ({ unchanged: rows.backend }),
    });
    t.equal(await store.execute(plan), backends[0]);
    t.same(new Set(backends).size, 1, 'each transaction was rolled back');
    t.equal(backends.length, 3);
  },
);
