#include "grm/train/config.h"

namespace grm {

void TrainOptions::declare(OptionList& list) {
  list.add("epochs", epochs, {1, 1e7}, "training epochs");
  list.add("eval_every", eval_every, {1, 1e7},
           "epochs between evaluations; the last epoch is always evaluated");
  list.add("patience", patience, {0, 1e7},
           "evaluations that the rule of early stopping looks back; 0: never stop early");
  list.choice("stop", stop,
              "stop when the best validation score is `patience` evaluations old, or when the "
              "latest is below the mean of the `patience` before it (LiSA)");
  list.add("warm_up", warm_up, {0, 1e7}, "below_mean: epochs before it may stop a run");
  list.add("milestone", milestone, {0, 1e7},
           "epochs after which learning rates are a tenth of what they were; 0: never")
      .came_later();
  list.choice("test", test,
              "when test domains are scored: once the model is chosen, at every evaluation (for "
              "the oracle rule), or not at all (tuning)");
  list.choice("selection", selection,
              "which epoch's model is kept and reported: best validation, the last, or best test "
              "(an upper bound, not a result; needs test = every)");
  list.choice(
          "validate_on", validate_on,
          "what validation looks at: what the dataset gives, or a tenth of the training graphs, "
          "the largest ones (of all, or of each class), which leave training")
      .came_later();
  list.choice("average", average,
              "weights that are evaluated, chosen and saved: those of an epoch, or an exponential "
              "(ema) or equal (swa) average over epochs, running statistics included")
      .came_later("average");
  list.add("average_decay", average_decay, {0, 1}, "ema: share of the old average in an epoch")
      .came_later("average");
  list.add("average_start", average_start, {0, 1e7}, "epochs before the first that is averaged")
      .came_later("average");
  list.add("calibrate", calibrate,
           "fit a temperature on validation when the model is chosen, so that its probabilities "
           "mean what they say; it changes no class and no score")
      .came_later();
  list.add("class_weights", class_weights,
           "what items of each class count in the loss: none (all the same), balanced (classes "
           "alike), names as in fraud=5, or a number for each class as in 1,5")
      .came_later();
  list.add("focal", focal, {0, 10},
           "gamma of the focal loss: an item counts (1 - p)^gamma, p the probability of its label; "
           "0: plain loss")
      .came_later();
  list.add("shards", shards, {1, 100000},
           "parts into which a batch is cut: each is computed alone and gradients are summed in "
           "their order, so that as many processes as divide it train to the same bits")
      .came_later();
  list.add("batch", batch, {0, 1e9},
           "node level: target nodes of each training domain in a step, on a sample of their "
           "neighbourhood, for graphs that are too large to train on as a whole; 0: whole graphs")
      .came_later("batch");
  list.add(
          "fanout", fanout, {0, 1e6},
          "neighbours drawn for a node of a sample, by hop from the targets on, as in [15, 10]; 0, "
          "or an empty list: all of them")
      .came_later("batch");
  list.add("seeds", seeds, {1, 100000}, "independent runs");
  list.add("first_seed", first_seed, {0, 9e15}, "seed of the first run; the others count up");
  list.add("checkpoint_seconds", checkpoint_seconds, {0, 1e9},
           "seconds between checkpoints; they never change a result");
  list.choice("log", log,
              "what a run writes beside metrics.jsonl: metrics.csv, event files for TensorBoard, "
              "or both; it changes no result");
  list.add("device", device,
           "where to compute: cpu, cuda, cuda:1 (a number) or auto, the first GPU if there is one; "
           "the flag --device goes over it")
      .came_later();
}

}  // namespace grm
