import type { People, Result, View } from '../../services/pages/site/view.ts';
import { MarkedText } from './marked.tsx';
import { Empty, Pager, RecordLink, When } from './parts.tsx';
import { SearchForm } from './search-form.tsx';

const KINDS: Readonly<Record<Result['kind'], readonly [word: string, path: string]>> = {
  note: ['Note by', '/notes/'],
  member: ['Member', ''],
  artifact: ['Packet', '/packets/'],
  case: ['Case', '/cases/'],
};

export function Search({
  words,
  of,
  results,
  people,
  problem,
  older,
}: Extract<View, { kind: 'search' }>) {
  return (
    <>
      <h1>Search</h1>
      <SearchForm words={words} of={of} />
      {problem && (
        <p class="box bad" role="alert">
          {problem}
        </p>
      )}
      {results?.length === 0 && (
        <Empty>Nothing public contains all of these words. Try fewer of them.</Empty>
      )}
      {results && results.length > 0 && (
        <ol class="records">
          {results.map((result) => (
            <Found key={result.id} result={result} words={words} people={people} />
          ))}
        </ol>
      )}
      <Pager older={older} word="Older results" />
    </>
  );
}

function Found({ result, words, people }: { result: Result; words: string; people: People }) {
  const [word, path] = KINDS[result.kind];
  const href = path ? path + result.id : people[result.id]?.href;
  return (
    <li>
      <h2>
        {word} <RecordLink href={href} title={result.title} />
      </h2>
      <p class="meta">
        <When at={result.at} />
      </p>
      <p class="prose short foreign" dir="auto">
        <MarkedText text={result.excerpt} words={words} />
      </p>
    </li>
  );
}
