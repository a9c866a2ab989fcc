import { stripInvisible } from '../../platform/visible-text.ts';
import { recordPath } from '../../services/navigation.ts';
import type { People, Result, ViewOf } from '../../services/pages/view.ts';
import { Alert } from '../shared/live-region.tsx';
import { foreign } from '../shared/text.tsx';
import { When } from '../shared/time.tsx';
import { Empty, Pager } from './parts.tsx';

const WORDS: Readonly<Record<Result['kind'], string>> = {
  note: 'Note by',
  member: 'Member',
  artifact: 'Packet',
  case: 'Case',
};

export function Search(view: ViewOf<'search'>) {
  const { words, of, results, count, complete, people, problem, older } = view;
  return (
    <>
      <h1>Search</h1>
      <SearchForm words={words} of={of} />
      {problem && <Alert>{problem}</Alert>}
      {results?.length === 0 && (
        <Empty>
          {complete
            ? 'Nothing public contains all of these words. Try fewer of them.'
            : 'Nothing was found among the newest records. Try rarer words.'}
        </Empty>
      )}
      {results && results.length > 0 && (
        <p class="meta" role="status">
          {complete ? '' : 'At least '}
          {count} {count === 1 ? 'result' : 'results'}
        </p>
      )}
      {results && results.length > 0 && (
        <ol class="records">
          {results.map((result) => (
            <Found key={result.id} result={result} people={people} />
          ))}
        </ol>
      )}
      <Pager older={older} word="Older results" />
    </>
  );
}

function Found({ result, people }: { result: Result; people: People }) {
  const href = recordPath(result, people);
  const title = (
    <>
      {WORDS[result.kind]}{' '}
      <bdi {...foreign(result.title)} class="foreign">
        <MarkedText text={result.title} marks={result.titleMarks} />
      </bdi>
    </>
  );
  return (
    <li>
      <h2>{href ? <a href={href}>{title}</a> : title}</h2>
      <p class="meta">
        {result.attribution && <>{result.attribution} · </>}
        <When at={result.at} />
      </p>
      <p {...foreign(result.excerpt)} class="prose short foreign">
        <MarkedText text={result.excerpt} marks={result.marks} />
      </p>
    </li>
  );
}

const KINDS = [
  ['', 'everything'],
  ['note', 'notes'],
  ['member', 'members'],
  ['artifact', 'packets'],
  ['case', 'cases'],
] as const;

/** A form that works without scripts: its answer is the page of the results. */
export function SearchForm({ words = '', of = '' }: { words?: string; of?: string | undefined }) {
  return (
    <search>
      <form class="search row" action="/search" method="get">
        <label for="q" class="visually-hidden">
          Words
        </label>
        <input
          class="input"
          id="q"
          name="q"
          type="search"
          value={words}
          maxLength={200}
          placeholder="Search notes, members, packets and cases"
        />
        <label for="type" class="visually-hidden">
          In
        </label>
        <select class="input" id="type" name="type">
          {KINDS.map(([value, word]) => (
            <option key={value} value={value} selected={value === of}>
              {word}
            </option>
          ))}
        </select>
        <button type="submit" class="button">
          Search
        </button>
      </form>
    </search>
  );
}

/** Text by others, in which parts (start and length in code points) are marked. */
export function MarkedText({ text, marks }: { text: string; marks: readonly number[][] }) {
  const characters = [...text];
  const part = (start: number, end?: number) =>
    stripInvisible(characters.slice(start, end).join(''));
  let done = 0;
  const pieces = marks.map(([start = 0, length = 0]) => {
    const before = part(done, start);
    done = start + length;
    return (
      <>
        {before}
        <mark>{part(start, done)}</mark>
      </>
    );
  });
  return (
    <>
      {pieces}
      {part(done)}
    </>
  );
}
