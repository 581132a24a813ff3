/* A libFuzzer target over the whole border: what include/arrowprep.h promises, on any bytes.
 *
 * Every buffer that goes in is a heap block of exactly its length, so that AddressSanitizer
 * sees each byte read beyond it. A panic that the border caught counts as a finding too.
 * Models and their caches live as long as the process: "warm" is warm of earlier inputs. */
#include "../include/arrowprep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what) do { if (!(what)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); abort(); } } while (0)

enum { MERGES = 300, TOKENS = 256 + MERGES, MOST_ROWS = 32, MOST_ADDED = 6, LONGEST_TOKEN = 24 };

/* ---- fuzzed bytes, taken from the front */

typedef struct { const uint8_t *at; size_t left; } Input;

static uint8_t byte(Input *in) { return in->left ? (in->left--, *in->at++) : 0; }

static void *block(const void *from, size_t size) {
  void *copy = malloc(size);
  CHECK(copy || !size);
  if (size) memcpy(copy, from, size);
  return copy;
}

/* ---- a model of all bytes and pseudo-random merges */

typedef struct { uint8_t bytes[LONGEST_TOKEN]; size_t size; } Token;

static Token known[TOKENS];
static uint32_t operands[MERGES][2];
static const int64_t no_ends[1];
#define NO_STRINGS (arrowprep_strings){NULL, 0, no_ends, 0}

static arrowprep_model *models[2][3]; /* by ignore_merges; no cache, a tiny one, a large one */
static arrowprep_decoder *decoder;

static size_t spell(const Token *token, uint8_t *out) { /* in byte characters */
  size_t size = 0;
  for (size_t i = 0; i < token->size; i++) {
    uint32_t letter = token->bytes[i];
    if (letter <= 32) letter += 256;
    else if (letter >= 127 && letter <= 160) letter += 256 + 33 - 127;
    else if (letter == 173) letter = 256 + 67;
    if (letter >= 128) out[size++] = 0xc0 | letter >> 6, out[size++] = 0x80 | (letter & 63);
    else out[size++] = letter;
  }
  return size;
}

static void make_tokens(void) {
  static const uint8_t common[] = " etaoin sr\n12.'\xc3\xa9\xe3\x81\x82\xcc\x81";
  uint32_t seed = 12345;
  for (size_t i = 0; i < 256; i++) known[i] = (Token){{(uint8_t)i}, 1};
  for (size_t made = 0; made < MERGES;) {
    uint32_t pair[2];
    for (int side = 0; side < 2; side++) {
      seed = seed * 1664525 + 1013904223;
      pair[side] = made && seed >> 31 ? 256 + (seed >> 8) % made : common[(seed >> 8) % (sizeof common - 1)];
    }
    Token left = known[pair[0]], right = known[pair[1]];
    if (left.size + right.size > LONGEST_TOKEN) continue;
    memcpy(left.bytes + left.size, right.bytes, right.size);
    left.size += right.size;
    size_t same = 0;
    while (same < 256 + made && (known[same].size != left.size || memcmp(known[same].bytes, left.bytes, left.size))) same++;
    if (same < 256 + made) continue;
    memcpy(operands[made], pair, sizeof pair);
    known[256 + made++] = left;
  }
}

static void make_models(void) {
  static uint8_t text[TOKENS * LONGEST_TOKEN * 2], special[TOKENS];
  static int64_t ends[TOKENS + 1];
  static uint32_t ids[TOKENS], ways[MERGES][3];
  make_tokens();
  for (size_t i = 0; i < TOKENS; i++) ids[i] = i, ends[i + 1] = ends[i] + spell(&known[i], text + ends[i]);
  for (size_t i = 0; i < MERGES; i++) memcpy(ways[i], operands[i], sizeof operands[i]), ways[i][2] = 256 + i;
  arrowprep_strings tokens = {text, ends[TOKENS], ends, TOKENS};
  for (int ignore = 0; ignore < 2; ignore++)
    for (int size = 0; size < 3; size++)
      CHECK(models[ignore][size] = arrowprep_model_new(
                &(arrowprep_model_parts){0, ignore, tokens, ids, NULL, ways, MERGES, NO_STRINGS, -1, 0, (size_t[]){0, 64, 1 << 20}[size]}, NULL));
  CHECK(decoder = arrowprep_decoder_new(&(arrowprep_decoder_parts){0, tokens, NO_STRINGS, ids, special, NO_STRINGS, 0}, NULL));
}

/* The definition: the first rule of the list that applies anywhere, at its leftmost place. */
static size_t merged(const uint8_t *text, size_t size, uint32_t *ids) {
  for (size_t i = 0; i < size; i++) ids[i] = text[i];
  for (size_t rule = 0; rule < MERGES;) {
    size_t at = 0;
    while (at + 1 < size && (ids[at] != operands[rule][0] || ids[at + 1] != operands[rule][1])) at++;
    if (at + 1 >= size) { rule++; continue; }
    ids[at] = 256 + rule;
    memmove(ids + at + 1, ids + at + 2, (--size - at - 1) * sizeof *ids);
    rule = 0;
  }
  return size;
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

/* ---- what is promised */

static void check_failure(const arrowprep_failure *failure) {
  CHECK(memchr(failure->message, 0, sizeof failure->message) && failure->message[0]);
  CHECK(strncmp(failure->message, "the kernel failed", 17));
}

static void check_row(const arrowprep_failure *failure, const Cut *made) {
  check_failure(failure);
  CHECK(!made->whole && failure->row >= 0 && (size_t)failure->row < made->texts.count);
  CHECK(made->there[failure->row] && made->characters[failure->row] < 0);
}

static int is_left(const arrowprep_encoded *encoded, size_t row) {
  for (size_t i = 0; i < encoded->left_count; i++) if (encoded->left[i] == row) return 1;
  return 0;
}

/* The same ids; a traced text that is changed before it is cut may be left where an untraced one is not. */
static void check_same(const arrowprep_encoded *one, const arrowprep_encoded *other, int traced) {
  CHECK(one->texts == other->texts && (traced || one->left_count == other->left_count));
  for (size_t row = 0; row < one->texts; row++) {
    size_t count = one->offsets[row + 1] - one->offsets[row], again = other->offsets[row + 1] - other->offsets[row];
    CHECK(traced || is_left(one, row) == is_left(other, row));
    if (is_left(other, row)) { CHECK(!again); continue; }
    CHECK(!is_left(one, row) && count == again);
    CHECK(!count || !memcmp(one->ids + one->offsets[row], other->ids + other->offsets[row], count * 4));
  }
}

static void check_trace(const arrowprep_encoded *traced, const Cut *made) {
  for (size_t row = 0; row < traced->texts; row++)
    for (int32_t i = traced->offsets[row]; i < traced->offsets[row + 1]; i++) {
      CHECK(traced->starts[i] <= traced->ends[i] && traced->ends[i] <= made->characters[row]);
      CHECK(i == traced->offsets[row] || traced->words[i - 1] <= traced->words[i]);
    }
}

static void check_alone(const arrowprep_tokenizer *tokenizer, const arrowprep_encoded *all, const Cut *made, int simple) {
  for (size_t row = 0; row < all->texts; row++) {
    size_t size = made->ends[row + 1] - made->ends[row], count = all->offsets[row + 1] - all->offsets[row];
    if (!made->there[row] || is_left(all, row)) { CHECK(!count); continue; }
    uint8_t *text = block(made->texts.data + made->ends[row], size);
    int32_t zero_size[2] = {0, (int32_t)size};
    int32_t *offsets = block(zero_size, sizeof zero_size);
    arrowprep_texts one = {text, size, offsets, 0, 1, NULL, 0};
    arrowprep_encoded *alone = arrowprep_encode(tokenizer, &one, 0, 1, NULL);
    CHECK(alone && alone->tokens == count && (!count || !memcmp(alone->ids, all->ids + all->offsets[row], count * 4)));
    uint32_t *room = malloc(count * 4);
    int64_t found = arrowprep_ids(tokenizer, text, size, room, count, NULL);
    CHECK(found < 0 || ((size_t)found == count && (!count || !memcmp(room, alone->ids, count * 4))));
    if (simple && size <= 64) {
      uint32_t expected[64];
      CHECK(merged(text, size, expected) == count && (!count || !memcmp(expected, alone->ids, count * 4)));
    }
    arrowprep_encoded_free(alone);
    free(room), free(offsets), free(text);
  }
}

static void check_round_trip(const arrowprep_encoded *encoded, const Cut *made) {
  int32_t *ids = block(encoded->ids, encoded->tokens * 4), *offsets = block(encoded->offsets, (encoded->texts + 1) * 4);
  arrowprep_rows rows = {ids, encoded->tokens, offsets, 0, encoded->texts};
  arrowprep_decoded *decoded = arrowprep_decode(decoder, &rows, 0, NULL);
  CHECK(decoded);
  for (size_t row = 0; row < encoded->texts; row++) {
    if (!made->there[row] || is_left(encoded, row)) continue;
    size_t size = made->ends[row + 1] - made->ends[row];
    CHECK((size_t)(decoded->offsets[row + 1] - decoded->offsets[row]) == size);
    CHECK(!size || !memcmp(decoded->text + decoded->offsets[row], made->texts.data + made->ends[row], size));
  }
  arrowprep_decoded_free(decoded);
  free(ids), free(offsets);
}

/* ---- the functions, one kind of input each */

typedef struct { uint8_t text[MOST_ADDED * 8], flags[MOST_ADDED]; int64_t ends[MOST_ADDED + 1]; uint32_t ids[MOST_ADDED]; } Added;

static arrowprep_added added(Input *in, Added *made) {
  size_t count = byte(in) % (MOST_ADDED + 1);
  made->ends[0] = 0;
  for (size_t i = 0; i < count; i++) {
    size_t size = byte(in) % 8;
    made->flags[i] = byte(in), made->ids[i] = TOKENS + i, made->ends[i + 1] = made->ends[i] + size;
    for (size_t j = 0; j < size; j++) made->text[made->ends[i] + j] = byte(in);
  }
  return (arrowprep_added){{made->text, made->ends[count], made->ends, count}, made->ids, made->flags};
}

/* options: 1 text is normalized to NFC, 2 a space is put before what begins with none */
static arrowprep_tokenizer *tokenizer_of(const arrowprep_model *model, uint32_t cut, uint32_t options, const arrowprep_layers *layers,
                                         arrowprep_added in_raw, arrowprep_added in_normalized, arrowprep_failure *failure) {
  static const uint32_t none[1], compose[1] = {4}, lead[1] = {3};
  static const int64_t ends[3];
  const arrowprep_strings texts[2] = {NO_STRINGS, {NULL, 0, ends, 2}};
  arrowprep_pipeline_parts parts = {
      cut, {compose, none, texts[options & 1]}, {lead, none, texts[options >> 1 & 1]}, layers, in_raw, in_normalized};
  return arrowprep_tokenizer_new(model, &parts, failure);
}

static void encode(Input *in, uint8_t how) {
  uint8_t pipeline = byte(in);
  uint32_t grammar = pipeline % 6, options = pipeline / 6 % 4;
  Added raw, normalized;
  arrowprep_added in_raw = added(in, &raw), in_normalized = added(in, &normalized);
  int simple = !grammar && !options && !in_raw.contents.count && !in_normalized.contents.count && !(how & 8);
  Cut made = cut(in, how);
  arrowprep_encoded *first = NULL;
  for (int size = 0; size < 3; size++) {
    arrowprep_failure failure = {0};
    arrowprep_tokenizer *tokenizer =
        tokenizer_of(models[how >> 3 & 1][size], grammar, options, NULL, in_raw, in_normalized, &failure);
    CHECK(tokenizer);
    for (int turn = 0; turn < 4; turn++) { /* cold, warm, on two threads, traced */
      arrowprep_encoded *found = arrowprep_encode(tokenizer, &made.texts, turn == 3, turn == 2 ? 2 : 1, &failure);
      if (!found) { check_row(&failure, &made); continue; }
      CHECK(made.whole);
      if (turn == 3) check_trace(found, &made);
      if (first) { check_same(first, found, turn == 3), arrowprep_encoded_free(found); continue; }
      first = found;
      check_alone(tokenizer, first, &made, simple);
      if (!options && !in_raw.contents.count && !in_normalized.contents.count) check_round_trip(first, &made);
    }
    arrowprep_tokenizer_free(tokenizer);
  }
  if (first) arrowprep_encoded_free(first);
  free_cut(&made);
}

/* Whatever offsets and null bits say: a result or a failure. */
static void garbage(Input *in, uint8_t how) {
  arrowprep_added none = {NO_STRINGS, NULL, NULL};
  uint8_t pipeline = byte(in);
  arrowprep_failure failure = {0};
  uint64_t words[64];
  uint32_t runs[] = {0, 0, 'a', 1, 'b', 2, '0', 3, 128, 4};
  size_t steps = byte(in) % 12;
  words[0] = 2, words[1] = steps, words[2] = byte(in);
  for (int i = 3; i < 7; i++) words[i] = byte(in) % 32;
  for (size_t i = 7; i < 7 + 3 * steps; i++) words[i] = i % 3 == 1 ? byte(in) % 9 | (byte(in) & 1) << 8 : byte(in) % 32;
  arrowprep_layers layers = {runs, byte(in) % 6, words, byte(in) & 7 ? 7 + 3 * steps : byte(in) % 64};
  arrowprep_tokenizer *tokenizer = tokenizer_of(
      models[0][1], pipeline, pipeline >> 6, how & 16 ? &layers : NULL, none, none, &failure);
  if (!tokenizer) { check_failure(&failure); return; }
  size_t width = how & 1 ? 8 : 4, count = byte(in) % 8, size = (count + 1) * width;
  uint8_t raw[64];
  for (size_t i = 0; i < size; i++) raw[i] = byte(in);
  if (how & 2) for (size_t i = 0; i < size; i++) if (i % width) raw[i] = 0; /* small ones: near the truth */
  void *offsets = block(raw, size);
  uint8_t bits = byte(in), *valid = how & 4 ? block(&bits, 1) : NULL;
  uint8_t *data = block(in->at, in->left);
  arrowprep_texts texts = {data, in->left, offsets, how & 1, count, valid, 0};
  arrowprep_encoded *found = arrowprep_encode(tokenizer, &texts, how >> 3 & 1, 1 + (how >> 4 & 1), &failure);
  if (found) arrowprep_encoded_free(found); else check_failure(&failure);
  int32_t *ids = block(in->at, in->left / 4 * 4);
  arrowprep_rows rows = {ids, in->left / 4, offsets, how & 1, count};
  arrowprep_decoded *decoded = arrowprep_decode(decoder, &rows, how >> 3 & 1, &failure);
  if (decoded) arrowprep_decoded_free(decoded); else check_failure(&failure);
  free(offsets), free(valid), free(data), free(ids);
  arrowprep_tokenizer_free(tokenizer);
}

static void count(Input *in, uint8_t how) {
  uint8_t pipeline = byte(in);
  Cut made = cut(in, how);
  arrowprep_counted_pieces *found[2] = {0};
  for (int turn = 0; turn < 2; turn++) {
    arrowprep_failure failure = {0};
    arrowprep_counter *counter = arrowprep_counter_new(pipeline % 6, pipeline / 6 % 4, &failure);
    CHECK(counter);
    if (arrowprep_counter_feed(counter, &made.texts, turn + 1, &failure)) {
      CHECK(made.whole && (found[turn] = arrowprep_counted(counter, &failure)));
    } else check_row(&failure, &made);
    arrowprep_counter_free(counter);
  }
  if (found[0]) {
    CHECK(found[0]->count == found[1]->count && found[0]->size == found[1]->size);
    CHECK(!memcmp(found[0]->offsets, found[1]->offsets, (found[0]->count + 1) * 8));
    CHECK(!found[0]->size || !memcmp(found[0]->data, found[1]->data, found[0]->size));
    CHECK(!found[0]->count || !memcmp(found[0]->counts, found[1]->counts, found[0]->count * 8));
  }
  for (int turn = 0; turn < 2; turn++) if (found[turn]) arrowprep_counted_free(found[turn]);
  free_cut(&made);
}

/* Words of fuzzed ids, lengths and counts. Learning in steps is learning at once. */
static void learn(Input *in, uint8_t how) {
  enum { LETTERS = 8, ROOM = 40 };
  size_t words = byte(in) % MOST_ROWS;
  int64_t ends[MOST_ROWS + 1] = {0}, counts[MOST_ROWS], letter_ends[LETTERS + 1], prefix_ends[2] = {0, how & 1 ? 2 : 0};
  for (size_t i = 0; i < words; i++) ends[i + 1] = ends[i] + (how & 2 ? (int8_t)byte(in) : byte(in) % 16), counts[i] = byte(in) % 9;
  uint64_t most = how & 4 ? byte(in) % 8 : UINT64_MAX;
  for (size_t i = 0; i <= LETTERS; i++) letter_ends[i] = i;
  uint32_t *ids = malloc(in->left * 4);
  for (size_t i = 0; i < in->left; i++) ids[i] = how & 8 ? in->at[i] : in->at[i] % LETTERS;
  int64_t *offsets = block(ends, (words + 1) * 8), *times = block(counts, words * 8);
  arrowprep_strings tokens = {(const uint8_t *)"##abcdef", LETTERS, letter_ends, LETTERS};
  arrowprep_strings prefix = {(const uint8_t *)"##", prefix_ends[1], prefix_ends, 1};
  arrowprep_merge merges[2][ROOM] = {0};
  size_t made[2] = {0};
  for (int turn = 0; turn < 2; turn++) {
    arrowprep_failure failure = {0};
    arrowprep_learner *learner = arrowprep_learner_new(ids, in->left, offsets, times, words, &tokens, &prefix, most, &failure);
    if (!learner) { check_failure(&failure); continue; }
    for (size_t step = turn ? 3 : ROOM, got = step; got == step && made[turn] < ROOM; made[turn] += got) {
      if (step > ROOM - made[turn]) step = ROOM - made[turn];
      got = arrowprep_learn(learner, 40, 1, merges[turn] + made[turn], step, &failure);
      if (got == SIZE_MAX) check_failure(&failure);
      CHECK(got <= step);
    }
    arrowprep_learner_free(learner);
  }
  CHECK(made[0] == made[1] && !memcmp(merges[0], merges[1], sizeof merges[0]));
  free(ids), free(offsets), free(times);
}

static void lay_out(Input *in, uint8_t how) {
  size_t rows = byte(in) % 8, width = how & 1 ? 1 : 4, size = byte(in), around = how >> 1 & 3;
  int64_t numbers[4][8];
  for (size_t i = 0; i < 4; i++) for (size_t row = 0; row < rows; row++) numbers[i][row] = how & 8 ? INT64_MAX - byte(in) : (int8_t)byte(in);
  int64_t *copies[4];
  for (size_t i = 0; i < 4; i++) copies[i] = block(numbers[i], rows * 8);
  void *frame = calloc(around, width), *out = malloc(size * width), *column = block(in->at, in->left / width * width);
  arrowprep_layout layout = {rows, copies[0], copies[1], copies[2], copies[3], frame, around, frame, around, width};
  arrowprep_failure failure = {0};
  if (arrowprep_lay_out(&layout, how & 16 ? NULL : column, in->left / width, 7, 9, out, size, &failure)) check_failure(&failure);
  for (size_t i = 0; i < 4; i++) free(copies[i]);
  free(frame), free(out), free(column);
}

/* A tokenizer.json, or what follows its beginning; read again without what was taken out. */
static void read_file(Input *in, uint8_t how) {
  static const char *const begins[] = {"", "{\"model\":", "{\"model\":{\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[", "{\"model\":{\"vocab\":[["};
  const char *begin = begins[how % 4];
  size_t before = strlen(begin), size = before + in->left;
  uint8_t *json = malloc(size);
  memcpy(json, begin, before);
  if (in->left) memcpy(json + before, in->at, in->left);
  arrowprep_failure failure = {0};
  arrowprep_parts *parts = arrowprep_read(json, size, &failure);
  if (!parts) check_failure(&failure); else {
    CHECK(parts->vocab[0] < parts->vocab[1] && parts->vocab[1] <= size && parts->merges_at[1] <= size);
    for (size_t i = 0; i < parts->count; i++) {
      size_t start = parts->offsets[i], stop = parts->offsets[i + 1];
      CHECK(start <= stop && stop <= parts->size && characters((uint8_t *)parts->data + start, stop - start, 0) >= 0);
      CHECK(arrowprep_find(parts, parts->data + start, stop - start) == (int64_t)i);
    }
    for (size_t i = 0; i < 3 * parts->merges; i++) CHECK((size_t)parts->ways[i] < parts->count);
    arrowprep_parts_free(parts);
  }
  int64_t ends[4] = {0, in->left / 3, in->left / 2, in->left};
  arrowprep_strings tokens = {json + before, in->left, ends, 3};
  if ((parts = arrowprep_every_way(&tokens, &failure))) arrowprep_parts_free(parts); else check_failure(&failure);
  free(json);
}

/* JSON Lines, or what follows the beginning of a line; texts are UTF-8 where the lines are. */
static void read_lines(Input *in, uint8_t how) {
  static const char *const begins[] = {"", "{\"a\":", "{\"t\":\"", "{\"f\":1.5,\"t\":null}\n{\"a\":1,\"b\":true,\"t\":\""};
  const char *begin = begins[how % 4];
  size_t before = strlen(begin), size = before + in->left;
  uint8_t *json = malloc(size);
  memcpy(json, begin, before);
  if (in->left) memcpy(json + before, in->at, in->left);
  int64_t ends[5] = {0, 1, 2, 3, 4};
  uint8_t kinds[4] = {1, 0, 2, 3};
  void *names = block("abft", 4);
  arrowprep_strings fields = {names, 4, ends, 4};
  arrowprep_failure failure = {0};
  arrowprep_lines *lines = arrowprep_read_lines(json, size, &fields, kinds, &failure);
  if (!lines) check_failure(&failure); else {
    static const size_t widths[4] = {8, 0, 8, 0};
    for (size_t i = 0; i < 4; i++) {
      const arrowprep_line_column *column = &lines->columns[i];
      size_t nulls = 0;
      for (size_t row = 0; column->nulls && row < lines->rows; row++) nulls += !(column->valid[row / 8] >> row % 8 & 1);
      CHECK(nulls == column->nulls && (!widths[i] || column->size == lines->rows * widths[i]));
    }
    CHECK(lines->columns[1].size == (lines->rows + 7) / 8);
    const arrowprep_line_column *texts = &lines->columns[3];
    CHECK(texts->offsets[0] == 0 && (size_t)texts->offsets[lines->rows] == texts->size && texts->size <= size);
    for (size_t row = 0; row < lines->rows; row++) CHECK(texts->offsets[row] <= texts->offsets[row + 1]);
    CHECK(characters(json, size, 0) < 0 || characters(texts->values, texts->size, 0) >= 0);
    arrowprep_lines_free(lines);
  }
  free(json), free(names);
}

int LLVMFuzzerInitialize(int *count, char ***words) {
  (void)count, (void)words;
  CHECK(arrowprep_abi() == 13);
  fprintf(stderr, "border: %s path\n", arrowprep_cpu() ? "AVX2" : "portable");
  make_models();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static void (*const kinds[])(Input *, uint8_t) = {encode, encode, encode, encode, garbage, count, learn, lay_out, read_file, read_lines};
  Input in = {data, size};
  uint8_t kind = byte(&in), how = byte(&in);
  kinds[kind % 10](&in, how);
  return 0;
}
