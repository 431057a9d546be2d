// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons for the window: the figures of `tenon compare`, values that stay on the disk within
// bounds, and bad input as errors.
#include "app/engine/engine.h"
#include "app/engine/kept_tensors.h"
#include "compiler/frontend/tensor_file.h"
#include "core/base/file.h"
#include "tests/support/need_qt.h"
#include "tests/support/sshd.h"
#include "views/presenters/compare_question.h"

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

class ComparisonTest : public QObject
{
    Q_OBJECT

private:
    static views::CompareQuestion sample()
    {
        views::CompareQuestion question;
        question.model = QStringLiteral(TENON_SAMPLE_MODEL);
        return question;
    }
    static QString setOfSample(int set)
    {
        return QFileInfo(QStringLiteral(TENON_SAMPLE_MODEL)).path() +
               QStringLiteral("/test_data_set_%1").arg(set);
    }
    static core::Result<views::CompareOutcome> compared(const views::CompareQuestion& question)
    {
        core::JobContext job(2);
        return makeEngine({}).comparing.run(question, {}, job);
    }

private slots:
    void comparesTheSampleAndKeepsItsTensors()
    {
        const auto outcome = compared(sample());
        QVERIFY2(outcome, outcome ? "" : outcome.error().message.c_str());
        const core::Comparison& made = *outcome->comparison;
        QCOMPARE(made.sets, size_t{3}); // those beside the model
        QVERIFY(!made.first());
        QVERIFY(outcome->notes.isEmpty());
        QCOMPARE(made.place, std::string("this computer"));
        core::JobContext job;
        const auto& values = makeEngine({}).comparing.values;
        for (size_t i = 0; i < made.tensors.size(); ++i) {
            const auto kept = values(*outcome, i, job);
            QVERIFY(kept);
            QCOMPARE(kept->device.typeText(), made.tensors[i].type);
            const core::TensorError again =
                core::tensorError(kept->device, made.tensors[i].units, kept->reference,
                                  made.tensors[i].units, made.limits);
            QCOMPARE(again.maxAbs, made.tensors[i].cumulative.maxAbs);
            QCOMPARE(again.sqnrDb, made.tensors[i].cumulative.sqnrDb);
        }
        QVERIFY(!values(*outcome, made.tensors.size(), job));
    }

    void takesAFolderOfDataSetsAndOneOfThem()
    {
        views::CompareQuestion question = sample();
        question.isolates = false;
        question.data = QFileInfo(question.model).path();
        const auto all = compared(question);
        QVERIFY(all);
        QCOMPARE(all->comparison->sets, size_t{3});
        question.data = setOfSample(1);
        const auto one = compared(question);
        QVERIFY(one);
        QCOMPARE(one->comparison->sets, size_t{1});
        QVERIFY(!one->comparison->tensors.front().isolated);
    }

    void namesATensorThatTheReferenceHasOtherwise()
    {
        const QTemporaryDir folder;
        views::CompareQuestion question = sample();
        question.data = setOfSample(0);
        const auto sound = compared(question);
        QVERIFY(sound);
        core::JobContext job;
        const size_t last = sound->comparison->tensors.size() - 1;
        const auto values = makeEngine({}).comparing.values(*sound, last, job);
        QVERIFY(values);
        std::vector<float> wrong(static_cast<size_t>(values->reference.size()), 7);
        const std::string path = folder.filePath(QStringLiteral("a.pb")).toStdString();
        QVERIFY(compiler::writeTensorFile(
            path, core::Tensor::of<float>(core::kFloat32, values->reference.shape(), wrong),
            sound->comparison->tensors[last].name));
        question.reference = folder.path();
        const auto outcome = compared(question);
        QVERIFY2(outcome, outcome ? "" : outcome.error().message.c_str());
        QCOMPARE(outcome->comparison->first().value_or(999), last);
    }

    void saysWhatIsWrongWithTheData()
    {
        const QTemporaryDir folder;
        views::CompareQuestion question = sample();
        question.data = folder.path();
        const auto empty = compared(question);
        QVERIFY(!empty);
        QVERIFY(empty.error().message.find("no .pb, .npy or .npz") != std::string::npos);
        const std::string path = folder.filePath(QStringLiteral("input_0.npy")).toStdString();
        QVERIFY(compiler::writeTensorFile(
            path, core::Tensor::of<float>(core::kFloat32, {2, 2}, std::vector<float>(4)), "x"));
        const auto wrong = compared(question);
        QVERIFY(!wrong);
        QCOMPARE(wrong.error().code, core::DiagnosticCode::ShapeMismatch);
        question.data = setOfSample(0);
        question.board = QStringLiteral("gone");
        const auto gone = compared(question);
        QVERIFY(!gone);
        QVERIFY(gone.error().message.find("gone") != std::string::npos);
        question.board.clear();
        question.reference = folder.filePath(QStringLiteral("none.onnx"));
        QVERIFY(!compared(question));
    }

    /// Over SSH, with the key accepted when the board shows it.
    void comparesOnABoardAndLeavesNothingThere()
    {
        NEED_TOOL("sshd");
        NEED_TOOL("ssh-keygen");
        const QTemporaryDir config, home;
        const test::Sshd sshd("SetEnv HOME=" + home.path().toStdString() + "\n");
        const QString list =
            QStringLiteral(R"({"version": 1, "boards": [{"name": "pi", "kind": "ssh",
                "host": "127.0.0.1", "port": %1, "identity_file": "%2",
                "target": "llvm -mcpu=native"}]})")
                .arg(sshd.port())
                .arg(QString::fromStdString(sshd.identity()));
        QVERIFY(core::writeFileAtomically(
            config.filePath(QStringLiteral("boards.json")).toStdString(), list.toStdString()));
        EngineOptions options;
        options.configFolder = config.path();
        views::CompareQuestion question = sample();
        question.board = QStringLiteral("pi");
        question.data = setOfSample(0);
        int asked = 0;
        const views::BoardAsk accept = [&](const views::BoardQuestion&, const core::JobContext&) {
            ++asked;
            return std::optional<std::string>("");
        };
        core::JobContext job(2);
        const auto outcome = makeEngine(options).comparing.run(question, accept, job);
        QVERIFY2(outcome, outcome ? "" : outcome.error().message.c_str());
        QCOMPARE(asked, 1);
        QCOMPARE(outcome->comparison->place, std::string("on board `pi`"));
        QVERIFY(!outcome->comparison->first());
        QVERIFY(outcome->comparison->tensors.size() > 4);
        QVERIFY(QDir(home.path())
                    .entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot)
                    .isEmpty());
    }

    void keepsNoMoreThanItMay()
    {
        const auto kept = KeptTensors::make(100);
        QVERIFY(kept);
        const auto tensor =
            core::Tensor::of<float>(core::kFloat32, {3}, std::vector<float>{1, 2, 3});
        const auto large = core::Tensor::of<float>(core::kFloat32, {10}, std::vector<float>(10));
        QVERIFY((*kept)->keep(0, tensor, tensor));
        QVERIFY((*kept)->keep(0, tensor, tensor)); // takes the place of the first
        QVERIFY((*kept)->keep(1, large, large));
        QVERIFY((*kept)->keep(2, tensor, tensor));
        const auto read = (*kept)->values(2);
        QVERIFY(read);
        QCOMPARE(read->device.number(2), 3.0);
        const auto none = (*kept)->values(1);
        QVERIFY(!none);
        QVERIFY(none.error().message.find("80 B") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(ComparisonTest)
#include "comparison_test.moc"
