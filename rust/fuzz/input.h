/* Fuzzed bytes, columns of texts made of them, and what is said of each failure. */
#ifndef ARROWPREP_FUZZ_INPUT_H
#define ARROWPREP_FUZZ_INPUT_H

#include "../include/arrowprep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) do { if (!(what)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); abort(); } } while (0)

enum { MOST_ROWS = 32, MOST_ADDED = 6 };

static const int64_t no_ends[1];
#define NO_STRINGS (arrowprep_strings){NULL, 0, no_ends, 0}

/* ---- fuzzed bytes, taken from the front */

typedef struct { const uint8_t *at; size_t left; } Input;

static uint8_t byte(Input *in) { return in->left ? (in->left--, *in->at++) : 0; }

static void *block(const void *from, size_t size) {
  void *copy = malloc(size);
  CHECK(copy || !size);
  if (size) memcpy(copy, from, size);
  return copy;
}

/* ---- columns */

/* Bytes of the character at `text`, 0 where it is none. */
static size_t character(const uint8_t *text, size_t left) {
  uint8_t first = text[0];
  size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (size > left) return 0;
  for (size_t i = 1; i < size; i++) if ((text[i] & 0xc0) != 0x80) return 0;
  if ((first == 0xe0 && text[1] < 0xa0) || (first == 0xed && text[1] > 0x9f)) return 0;
  if ((first == 0xf0 && text[1] < 0x90) || (first == 0xf4 && text[1] > 0x8f)) return 0;
  return size;
}

/* Characters of a text; -1 where it is not UTF-8, unless `repair` makes such bytes dots. */
static int64_t characters(uint8_t *text, size_t size, int repair) {
  int64_t count = 0;
  for (size_t at = 0; at < size; count++) {
    size_t step = character(text + at, size - at);
    if (!step && !repair) return -1;
    if (!step) text[at] = '.';
    at += step ? step : 1;
  }
  return count;
}

typedef struct {
  arrowprep_texts texts;
  int64_t ends[MOST_ROWS + 1];
  int64_t characters[MOST_ROWS];
  int there[MOST_ROWS];
  int whole; /* every text that is there is UTF-8 */
} Cut;

static void *offsets_of(const int64_t *ends, size_t count, int wide) {
  if (wide) return block(ends, count * 8);
  int32_t small[MOST_ROWS + 1];
  for (size_t i = 0; i < count; i++) small[i] = (int32_t)ends[i];
  return block(small, count * 4);
}

static Cut cut(Input *in, uint8_t how) {
  Cut made = {.whole = 1};
  size_t count = byte(in) % (MOST_ROWS + 1);
  uint8_t lengths[MOST_ROWS], bits[8];
  for (size_t i = 0; i < count; i++) lengths[i] = byte(in);
  for (size_t i = 0; i < 8; i++) bits[i] = how & 2 ? byte(in) : 0xff;
  size_t start = how & 2 ? bits[7] % 17 : 0;
  uint8_t *data = block(in->at, in->left);
  for (size_t i = 0; i < count; i++) {
    size_t left = in->left - made.ends[i], size = i + 1 == count || lengths[i] > left ? left : lengths[i];
    made.ends[i + 1] = made.ends[i] + size;
    made.there[i] = bits[(start + i) / 8] >> (start + i) % 8 & 1;
    made.characters[i] = characters(data + made.ends[i], size, how & 4);
    made.whole &= made.characters[i] >= 0 || !made.there[i];
  }
  uint8_t *valid = how & 2 ? block(bits, (start + count + 7) / 8) : NULL;
  made.texts = (arrowprep_texts){data, in->left, offsets_of(made.ends, count + 1, how & 1), how & 1, count, valid, start};
  return made;
}

static void free_cut(Cut *made) {
  free((void *)made->texts.data), free((void *)made->texts.offsets), free((void *)made->texts.valid);
}

/* ---- added tokens */

typedef struct { uint8_t text[MOST_ADDED * 8], flags[MOST_ADDED]; int64_t ends[MOST_ADDED + 1]; uint32_t ids[MOST_ADDED]; } Added;

static arrowprep_added added(Input *in, Added *made, uint32_t first_id) {
  size_t count = byte(in) % (MOST_ADDED + 1);
  made->ends[0] = 0;
  for (size_t i = 0; i < count; i++) {
    size_t size = byte(in) % 8;
    made->flags[i] = byte(in), made->ids[i] = first_id + i, made->ends[i + 1] = made->ends[i] + size;
    for (size_t j = 0; j < size; j++) made->text[made->ends[i] + j] = byte(in);
  }
  return (arrowprep_added){{made->text, made->ends[count], made->ends, count}, made->ids, made->flags};
}

/* ---- programs that cut, most of which make no sense */

typedef struct { uint32_t runs[10]; uint64_t words[64]; } Layers;

static arrowprep_layers layers_of(Input *in, Layers *made) {
  memcpy(made->runs, (uint32_t[]){0, 0, 'a', 1, 'b', 2, '0', 3, 128, 4}, sizeof made->runs);
  uint64_t *words = made->words;
  size_t steps = byte(in) % 12;
  words[0] = 2, words[1] = steps, words[2] = byte(in) % 18;
  for (int i = 3; i < 7; i++) words[i] = i % 2 || byte(in) & 3 ? byte(in) % 32 : ~0ull;
  for (size_t i = 7; i < 7 + 3 * steps; i++) words[i] = i % 3 == 1 ? byte(in) % 9 | (byte(in) & 1) << 8 | (uint64_t)(byte(in) % 3) << 32 : byte(in) % 32;
  if (words[2] == 5 || words[2] == 6) { /* by length, by scripts */
    made->runs[3] |= 1 << 8, made->runs[5] |= 2 << 8, words[0] = byte(in) % 4, words[1] = 0;
    return (arrowprep_layers){made->runs, 5, words, 3};
  }
  return (arrowprep_layers){made->runs, byte(in) % 6, words, byte(in) & 7 ? 7 + 3 * steps : byte(in) % 64};
}

/* ---- failures */

static void check_failure(const arrowprep_failure *failure) {
  CHECK(memchr(failure->message, 0, sizeof failure->message) && failure->message[0]);
  CHECK(strncmp(failure->message, "the kernel failed", 17));
}

static void check_row(const arrowprep_failure *failure, const Cut *made) {
  check_failure(failure);
  CHECK(!made->whole && failure->row >= 0 && (size_t)failure->row < made->texts.count);
  CHECK(made->there[failure->row] && made->characters[failure->row] < 0);
}

#endif
