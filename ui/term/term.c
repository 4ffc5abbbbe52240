// SPDX-License-Identifier: GPL-2.0-only
/*
 * The terminal, through ncursesw: the only file that knows curses. It keeps the cells that it
 * showed last and writes those that differ, by way of tty.c: while something of the frame before
 * is not taken, none is shown. Roles become colour pairs (pair = role + 1) of the
 * theme, in as many colours as the terminal has, or attributes alone. Clicks are taken as presses
 * and paired to double clicks here, since curses would hold back every click to wait for a second
 * one.
 */
#include "kontend/term.h"
#include "kontend/clock.h"
#include "kontend/codeset.h"

#include "kontend/mem.h"
#include "mouse.h"
#include "tty.h"
#include "widgets/theme.h"
#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

enum { ESC_DELAY_MS = 25, DOUBLE_CLICK_MS = 400, LEAVE = 200 };

/*
 * Key codes that curses makes of a terminal's answer to whether it shows frames at once (DEC mode
 * 2026), and of the beginning of a report of the mouse.
 */
enum { KEY_HAS_FRAMES = KEY_MAX + 1, KEY_NO_FRAMES, KEY_REPORT_BYTES, KEY_REPORT_SGR };

struct terminal {
	struct display display;
	SCREEN *screen;
	struct tty tty;
	struct display_cell *shown;
	int w, h;
	bool repaint, color, mouse;
	bool away; /* stopped and continued, and the terminal is not yet ours again */
	attr_t attrs[ROLES];
	char leave[LEAVE]; /* what leaves the full screen */
	struct {
		int64_t at_ms;
		int x, y;
	} press;
	struct mouse_report report;
};

static struct terminal *term_of(struct display *d)
{
	return (struct terminal *)d; /* first member */
}

static void apply_theme(struct terminal *t, const struct theme *theme)
{
	for (int role = 0; role < ROLES; role++) {
		const struct theme_style style = theme_style(theme, role);
		uint8_t wanted = t->color ? style.attrs : style.mono_attrs;

		t->attrs[role] = (wanted & THEME_BOLD ? A_BOLD : 0) |
				 (wanted & THEME_DIM ? A_DIM : 0) |
				 (wanted & THEME_REVERSE ? A_REVERSE : 0) |
				 (wanted & THEME_UNDERLINE ? A_UNDERLINE : 0);
		if (t->color)
			init_pair((short)(role + 1), (short)theme_pick(&style.fg, COLORS),
				  (short)theme_pick(&style.bg, COLORS));
	}
	t->display.letters = !t->color || COLOR_PAIRS <= ROLES;
	t->repaint = true;
}

static int term_theme(struct display *d, const char *name)
{
	const struct theme *theme = theme_find(name);

	if (!theme)
		return -EINVAL;
	apply_theme(term_of(d), theme);
	return 0;
}

/*
 * Before what curses writes next. It has to have written all until now: its own putp() writes to
 * standard output, whatever the screen is.
 */
static void say_capability(struct terminal *t, const char *capability)
{
	char text[64] = "";

	tty_append(text, sizeof(text), capability);
	fputs(text, t->tty.stream);
	fflush(t->tty.stream);
}

/* Curses takes it for granted, and knows only the size that the terminal began with. */
static void scroll_all(struct terminal *t)
{
	if (change_scroll_region)
		say_capability(t, tiparm(change_scroll_region, 0, LINES - 1));
}

static void term_size(struct display *d, int *ret_w, int *ret_h)
{
	struct winsize ws;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col && ws.ws_row &&
	    (ws.ws_col != COLS || ws.ws_row != LINES)) {
		resizeterm(ws.ws_row, ws.ws_col);
		scroll_all(term_of(d));
	}
	*ret_w = COLS;
	*ret_h = LINES;
}

static void show_cell(const struct terminal *t, int x, int y, const struct display_cell *cell)
{
	wchar_t text[2] = {(wchar_t)cell->ch, L'\0'};
	attr_t attrs = t->attrs[cell->role];
	cchar_t cc;

	if (cell->attr & DISPLAY_REVERSE)
		attrs ^= A_REVERSE;
	if (setcchar(&cc, text, attrs, t->color ? (short)(cell->role + 1) : 0, NULL) == OK)
		mvadd_wch(y, x, &cc);
}

static bool same(const struct display_cell *a, const struct display_cell *b)
{
	return a->ch == b->ch && a->role == b->role && a->attr == b->attr;
}

static bool fit(struct terminal *t, int w, int h)
{
	struct display_cell *grown;

	if (t->shown && w == t->w && h == t->h)
		return true;
	grown = mem_resize(t->shown, (size_t)w * (size_t)h, sizeof(*grown));
	if (!grown)
		return false;
	t->shown = grown;
	t->w = w;
	t->h = h;
	t->repaint = true;
	return true;
}

/* Sends the bytes that curses has written to the terminal. */
static void pass_on(struct terminal *t)
{
	if (tty_take(&t->tty) < 0)
		t->repaint = true;
	tty_send(&t->tty);
}

/* Not before there is something to show or to read: who was continued in the background, or to
 * end, leaves the terminal alone. */
static void come_back(struct terminal *t)
{
	if (!t->away)
		return;
	t->away = false;
	tty_enter(&t->tty);
	keypad(stdscr, TRUE);
	t->repaint = true;
}

static void term_blit(struct display *d, const struct display_cell *cells, int w, int h)
{
	struct terminal *t = term_of(d);

	if (!tty_send(&t->tty) || !fit(t, w, h))
		return;
	come_back(t);
	if (t->repaint)
		clearok(curscr, TRUE);
	for (int y = 0; y < h; y++) {
		for (int x = 0; x < w; x++) {
			size_t i = (size_t)y * (size_t)w + (size_t)x;

			if (!t->repaint && same(&t->shown[i], &cells[i]))
				continue;
			t->shown[i] = cells[i];
			if (cells[i].ch) /* else the right half of what was just shown */
				show_cell(t, x, y, &cells[i]);
		}
	}
	t->repaint = false;
	refresh();
	pass_on(t);
}

static int term_pending(struct display *d)
{
	return tty_send(&term_of(d)->tty) ? -1 : term_of(d)->tty.fd;
}

static const struct {
	int curses;
	uint32_t key;
} special_keys[] = {
	{KEY_UP, KEY_K_UP},
	{KEY_DOWN, KEY_K_DOWN},
	{KEY_LEFT, KEY_K_LEFT},
	{KEY_RIGHT, KEY_K_RIGHT},
	{KEY_SLEFT, KEY_K_SLEFT},
	{KEY_SRIGHT, KEY_K_SRIGHT},
	{KEY_PPAGE, KEY_K_PGUP},
	{KEY_NPAGE, KEY_K_PGDN},
	{KEY_HOME, KEY_K_HOME},
	{KEY_END, KEY_K_END},
	{KEY_ENTER, KEY_K_ENTER},
	{KEY_BTAB, KEY_K_BTAB},
	{KEY_BACKSPACE, KEY_K_BACKSPACE},
	{KEY_DC, KEY_K_DEL},
	{KEY_RESIZE, KEY_K_RESIZE},
};

static int64_t now_ms(void)
{
	return (int64_t)(clock_now_ns() / 1000000);
}

static uint32_t press_key(struct terminal *t, int x, int y)
{
	int64_t at = now_ms();
	bool twice = at - t->press.at_ms < DOUBLE_CLICK_MS && x == t->press.x && y == t->press.y;

	t->press.at_ms = twice ? 0 : at;
	t->press.x = x;
	t->press.y = y;
	return twice ? KEY_K_DCLICK : KEY_K_CLICK;
}

/* Of the Linux console, by way of libgpm. */
static uint32_t console_mouse_key(struct terminal *t, struct display_input *ret)
{
	MEVENT ev;

	if (getmouse(&ev) != OK)
		return 0;
	ret->x = ev.x;
	ret->y = ev.y;
	if (ev.bstate & BUTTON4_PRESSED)
		return KEY_K_WHEEL_UP;
	if (ev.bstate & BUTTON5_PRESSED)
		return KEY_K_WHEEL_DOWN;
	return ev.bstate & BUTTON1_PRESSED ? press_key(t, ev.x, ev.y) : 0;
}

static uint32_t report_key(struct terminal *t, struct display_input *ret)
{
	const struct mouse_report *r = &t->report;

	ret->x = r->x;
	ret->y = r->y;
	switch (r->button) {
	case MOUSE_WHEEL_UP:
		return KEY_K_WHEEL_UP;
	case MOUSE_WHEEL_DOWN:
		return KEY_K_WHEEL_DOWN;
	case MOUSE_LEFT:
		return r->is_pressed ? press_key(t, r->x, r->y) : 0;
	default:
		return 0;
	}
}

static void make_leave(struct terminal *t)
{
	t->leave[0] = '\0';
	if (t->tty.has_frames) /* a part of one may have been taken */
		tty_append(t->leave, LEAVE, TTY_FRAME_END);
	if (t->mouse)
		tty_append(t->leave, LEAVE, "\033[?1000l\033[?1002l\033[?1003l\033[?1006l");
	tty_append(t->leave, LEAVE, exit_attribute_mode);
	tty_append(t->leave, LEAVE, keypad_local);
	tty_append(t->leave, LEAVE, exit_ca_mode);
	tty_append(t->leave, LEAVE, cursor_normal);
	term_crash_leave(t->leave);
}

/* From the next one on. */
static void begin_frames(struct terminal *t)
{
	if (t->tty.has_frames)
		return;
	t->tty.has_frames = true;
	make_leave(t);
}

static uint32_t curses_key(struct terminal *t, int code, struct display_input *ret)
{
	if (code == KEY_MOUSE)
		return console_mouse_key(t, ret);
	if (code == KEY_REPORT_SGR || code == KEY_REPORT_BYTES)
		mouse_begin(&t->report, code == KEY_REPORT_SGR ? MOUSE_SGR : MOUSE_BYTES,
			    clock_now_ns());
	if (code == KEY_HAS_FRAMES)
		begin_frames(t);
	if (code >= KEY_F(1) && code <= KEY_F(10))
		return KEY_K_F1 + (uint32_t)(code - KEY_F(1));
	for (size_t i = 0; i < sizeof(special_keys) / sizeof(special_keys[0]); i++)
		if (special_keys[i].curses == code)
			return special_keys[i].key;
	return 0;
}

static uint32_t plain_key(wint_t ch)
{
	switch (ch) {
	case '\r':
	case '\n':
		return KEY_K_ENTER;
	case '\t':
		return KEY_K_TAB;
	case 27:
		return KEY_K_ESC;
	case 8:
	case 127:
		return KEY_K_BACKSPACE;
	default:
		if (ch > 0 && ch < 27)
			return KEY_K_CTRL | ((uint32_t)ch + 'a' - 1);
		return ch < ' ' || ch >= KEY_FIRST ? 0 : (uint32_t)ch;
	}
}

/* One more byte of a report, or a key where it ends early. ERR: there is none yet. */
static int take_report(struct terminal *t, struct display_input *ret)
{
	int ch = getch();

	if (ch == ERR)
		return ERR;
	switch (mouse_take(&t->report, ch, clock_now_ns())) {
	case MOUSE_IS_WHOLE:
		ret->key = report_key(t, ret);
		break;
	case MOUSE_IS_BROKEN:
		ungetch(ch);
		break;
	case MOUSE_GOES_ON:
		break;
	}
	return OK;
}

static int take_key(struct terminal *t, struct display_input *ret)
{
	wint_t ch = 0;
	int kind = get_wch(&ch);

	if (kind == KEY_CODE_YES)
		ret->key = curses_key(t, (int)ch, ret);
	else if (kind == OK)
		ret->key = plain_key(ch);
	return kind;
}

static void term_input(struct display *d, struct display_input *ret)
{
	struct terminal *t = term_of(d);
	int kind;

	come_back(t);
	/* Keys without a meaning for us are skipped: an answer of 0 says "no more input". */
	do {
		*ret = (struct display_input){0};
		kind = t->report.form ? take_report(t, ret) : take_key(t, ret);
	} while (kind != ERR && !ret->key);
}

static int term_fd(struct display *d)
{
	(void)d;
	return STDIN_FILENO;
}

/* False: the terminal takes nothing. */
static bool leave(struct terminal *t)
{
	if (t->away)
		return true;
	t->away = true;
	endwin();
	tty_take(&t->tty);
	return tty_leave(&t->tty, t->leave);
}

/* Stops like any job: with the default action, so that an orphaned one just goes on. */
static void term_suspend(struct display *d)
{
	struct sigaction dfl = {.sa_handler = SIG_DFL}, old;

	leave(term_of(d));
	sigemptyset(&dfl.sa_mask);
	sigaction(SIGTSTP, &dfl, &old);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &old, NULL);
}

static void term_redraw(struct display *d)
{
	term_of(d)->repaint = true;
}

static void term_free(struct display *d)
{
	struct terminal *t = term_of(d);

	if (t->screen) {
		if (!leave(t))
			tty_mute(&t->tty);
		delscreen(t->screen);
	}
	term_crash_disarm();
	tty_close(&t->tty);
	mem_free(t->shown);
	mem_free(t);
}

/* Before what curses writes next, so that it goes with the next frame. */
static int term_copy(struct display *d, const char *text)
{
	struct terminal *t = term_of(d);
	char *sequence;

	if (!key_mouse || !tty_has_clipboard(getenv("TERM"), getenv("STY"), getenv("TMUX")))
		return -EOPNOTSUPP;
	int r = tty_clipboard(text, &sequence);
	if (r < 0)
		return r;
	fputs(sequence, t->tty.stream);
	fflush(t->tty.stream);
	mem_free(sequence);
	return 0;
}

static const struct display_ops term_ops = {
	.size = term_size,
	.blit = term_blit,
	.input = term_input,
	.fd = term_fd,
	.suspend = term_suspend,
	.free = term_free,
	.redraw = term_redraw,
	.theme = term_theme,
	.pending = term_pending,
	.copy = term_copy,
};

int term_color_parse(const char *s, enum term_color *ret)
{
	static const char *const names[] = {"auto", "always", "never"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(s, names[i])) {
			*ret = (enum term_color)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Curses has the terminal's description: this machine's, or ours until terminfo_end(). */
static bool describe(const char *name, struct terminfo *own)
{
	int found;

	*own = (struct terminfo){0};
	if (setupterm(name, STDOUT_FILENO, &found) == OK)
		return true;
	return terminfo_begin(own, name) && setupterm(name, STDOUT_FILENO, &found) == OK;
}

/* A look at the description of the terminal, before anything is written to it. */
static int check_type(const char *name, struct error *err)
{
	struct terminfo own;
	bool is_known = describe(name, &own), moves;

	terminfo_end(&own);
	if (!is_known)
		return error_set(err, -EINVAL,
				 "Cannot show the live screen: no description of the terminal "
				 "TERM=%s is installed. Install ncurses-term, or try TERM=xterm",
				 name);
	moves = cursor_address && clear_screen;
	del_curterm(cur_term);
	if (!moves)
		return error_set(err, -EINVAL,
				 "Cannot show the live screen: a terminal of type TERM=%s cannot "
				 "move its cursor. Use another terminal, or `kontend report`",
				 name);
	return 0;
}

static int check_terminal(struct error *err)
{
	const char *name = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err, -ENOTTY,
				 "Cannot show the live screen: standard %s is no terminal. "
				 "Use `kontend report` to print a report instead",
				 isatty(STDIN_FILENO) ? "output" : "input");
	if (!name || !*name)
		return error_set(err, -EINVAL,
				 "Cannot show the live screen: TERM is not set. Say "
				 "what the terminal is, for example TERM=xterm-256color");
	return check_type(name, err);
}

static bool want_color(enum term_color color)
{
	const char *no = getenv("NO_COLOR");

	if (color == TERM_COLOR_AUTO && no && *no)
		return false;
	return color != TERM_COLOR_NEVER && has_colors();
}

/*
 * We do not wait for the answer, which comes among the keys, at any time: a terminal that does
 * not know the mode gives none, or a negative one. Those without a mouse are older than the
 * question, and may show a part of it.
 */
static void ask_for_frames(struct terminal *t)
{
	static const char *const answers[] = {"\033[?2026;1$y", "\033[?2026;2$y", "\033[?2026;0$y",
					      "\033[?2026;3$y", "\033[?2026;4$y"};

	if (!key_mouse)
		return;
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		define_key(answers[i], i < 2 ? KEY_HAS_FRAMES : KEY_NO_FRAMES);
	say_capability(t, "\033[?2026$p");
}

/* The beginnings of reports are keys of ours: curses shall not read the rest (see mouse.c). */
static void take_reports(void)
{
	if (!key_mouse)
		return;
	define_key(key_mouse, 0);
	define_key(MOUSE_BYTES_BEGIN, KEY_REPORT_BYTES);
	define_key(MOUSE_SGR_BEGIN, KEY_REPORT_SGR);
}

static void set_modes(struct terminal *t, const struct term_options *o)
{
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(ESC_DELAY_MS);
	typeahead(-1); /* frames are whole, keys or not */
	curs_set(0);   /* which has curses write */
	ask_for_frames(t);
	if (!o->no_mouse) {
		mouseinterval(0);
		t->mouse = mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	}
	take_reports();
	t->color = want_color(o->color);
	if (t->color) {
		start_color();
		use_default_colors();
	}
}

/*
 * If curses finds SIGTSTP free it takes it, and from then on ignores it whenever it writes: a ^Z in
 * that moment would be lost. It leaves alone what is taken.
 */
static SCREEN *open_screen(FILE *stream)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
	struct terminfo own;
	SCREEN *screen;

	if (describe(getenv("TERM"), &own))
		del_curterm(cur_term);
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGTSTP, &ignore, &old);
	screen = newterm(NULL, stream, stdin);
	sigaction(SIGTSTP, &old, NULL);
	terminfo_end(&own);
	return screen;
}

static int open_terminal(struct terminal *t, const struct term_options *o, struct error *err)
{
	int r = tty_open(&t->tty, STDIN_FILENO, STDOUT_FILENO, err);

	if (r < 0)
		return r;
	term_crash_arm(t->tty.fd, &t->tty.before); /* curses would catch some of these itself */
	t->screen = open_screen(t->tty.stream);
	if (!t->screen)
		return error_set(err, -EINVAL,
				 "Cannot show the live screen: the terminal "
				 "TERM=%s cannot be driven",
				 getenv("TERM"));
	tty_enter(&t->tty);
	set_modes(t, o);
	make_leave(t);
	return 0;
}

int term_new(struct display **ret, const struct term_options *o, struct error *err)
{
	const struct theme *theme = theme_find(o->theme ? o->theme : "default");
	int r = check_terminal(err);
	struct terminal *t;

	if (r < 0)
		return r;
	if (!theme)
		return error_set(err, -EINVAL,
				 "No theme is called '%s': there are default, light, cvd and mono",
				 o->theme);
	t = mem_calloc(1, sizeof(*t));
	if (!t)
		return error_enomem(err, "the screen");
	codeset_set();
	t->display.ops = &term_ops;
	t->display.ascii = o->ascii || !codeset_is_utf8();
	r = open_terminal(t, o, err);
	if (r < 0) {
		term_free(&t->display);
		return r;
	}
	apply_theme(t, theme);
	*ret = &t->display;
	return 0;
}
