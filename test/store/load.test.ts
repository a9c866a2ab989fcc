import t from 'tap';
import { flattenReads, type Load, shapeRows } from '../../platform/eventstore/load.ts';
import { sql } from '../../platform/sql.ts';

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
