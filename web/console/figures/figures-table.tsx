import type { ComponentChildren } from 'preact';

/** The cells of a row, the first of which names it. */
export type Cells = [string, ...ComponentChildren[]];

interface FiguresTableProps {
  label: string | undefined;
  head: string[];
  rows: readonly Cells[];
}

/** A table of figures, which is scrolled sideways where it is wider than its column. */
export function FiguresTable({ label, head, rows }: FiguresTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll
    <section class="table-scroll" tabIndex={0} aria-label={label}>
      <table>
        <TableHead names={head} />
        <tbody>
          {rows.map(([first, ...rest]) => (
            <tr key={first}>
              <th scope="row">
                <bdi>{first}</bdi>
              </th>
              {rest.map((value, index) => (
                <td key={head[index + 1]}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The head of a table with one column for each name. */
export function TableHead({ names }: { names: readonly string[] }) {
  return (
    <thead>
      <tr>
        {names.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}
