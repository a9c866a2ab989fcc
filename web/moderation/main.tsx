import '../shared/base.css';
import './console.css';
import './note.css';
import './pages.css';
import { render } from 'preact';
import { listenToClicks } from './clicks.ts';
import { Console } from './console.tsx';
import { listenToKeys } from './keys.ts';
import { resume } from './session.ts';

const place = document.getElementById('page');
if (place) render(<Console />, place);
listenToClicks();
listenToKeys();
void resume();
