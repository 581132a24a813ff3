/* What encoding a column promises: the same ids cold, warm, on threads, traced, alone, with any cache. */
#ifndef ARROWPREP_FUZZ_PROMISES_H
#define ARROWPREP_FUZZ_PROMISES_H

#include "input.h"

enum { LONGEST_DEFINED = 64 };

/* The ids of a text, at most one a byte, as the model is defined; returns how many. */
typedef size_t (*Definition)(const uint8_t *text, size_t size, uint32_t *ids);

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

/* Of the C data interface, as Arrow's documentation has it. */
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

/* The same ids as one Arrow array, or none where a text was left. */
static void check_lists(const arrowprep_tokenizer *tokenizer, const arrowprep_texts *texts, const arrowprep_encoded *all) {
  struct ArrowArray lists;
  int32_t code = arrowprep_encode_lists(tokenizer, texts, 1, &lists, NULL);
  CHECK(code == !all->left_count);
  if (!code) return;
  CHECK((size_t)lists.length == all->texts && (size_t)lists.children[0]->length == all->tokens);
  CHECK(!memcmp(lists.buffers[1], all->offsets, (all->texts + 1) * 4));
  CHECK(!all->tokens || !memcmp(lists.children[0]->buffers[1], all->ids, all->tokens * 4));
  lists.release(&lists);
  CHECK(!lists.release);
}

static void check_traced_alone(const arrowprep_tokenizer *tokenizer, const arrowprep_texts *one, size_t count) {
  arrowprep_encoded *traced = arrowprep_encode(tokenizer, one, 1, 1, NULL);
  uint32_t *columns = malloc(count * 16);
  int64_t found = arrowprep_trace(tokenizer, one->data, one->size, columns, count, NULL);
  CHECK(traced && (found < 0) == (traced->left_count > 0));
  CHECK(found < 0 || (size_t)found == count);
  const uint32_t *expected[] = {traced->ids, traced->starts, traced->ends, traced->words};
  for (size_t i = 0; i < 4 && found > 0; i++) CHECK(!memcmp(columns + i * count, expected[i], count * 4));
  arrowprep_encoded_free(traced), free(columns);
}

static void check_alone(const arrowprep_tokenizer *tokenizer, const arrowprep_encoded *all, const Cut *made, Definition definition) {
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
    check_traced_alone(tokenizer, &one, count);
    if (definition && size <= LONGEST_DEFINED) {
      uint32_t expected[LONGEST_DEFINED];
      CHECK(definition(text, size, expected) == count && (!count || !memcmp(expected, alone->ids, count * 4)));
    }
    arrowprep_encoded_free(alone);
    free(room), free(offsets), free(text);
  }
}

/* Encode a column by tokenizers that differ in their caches alone; what they give, or null where a text is none. */
static arrowprep_encoded *check_column(arrowprep_tokenizer *const *tokenizers, size_t count, const Cut *made, Definition definition) {
  arrowprep_encoded *first = NULL;
  for (size_t i = 0; i < count; i++)
    for (int turn = 0; turn < 4; turn++) { /* cold, warm, on two threads, traced */
      arrowprep_failure failure = {0};
      arrowprep_encoded *found = arrowprep_encode(tokenizers[i], &made->texts, turn == 3, turn == 2 ? 2 : 1, &failure);
      if (!found) { check_row(&failure, made); continue; }
      CHECK(made->whole);
      if (turn == 3) check_trace(found, made);
      if (first) { check_same(first, found, turn == 3), arrowprep_encoded_free(found); continue; }
      first = found;
      check_lists(tokenizers[i], &made->texts, first);
      check_alone(tokenizers[i], first, made, definition);
    }
  return first;
}

#endif
