// SPDX-License-Identifier: GPL-3.0-or-later
// Questions that a page answers when it is asked, over the same twenty models as the twins: what
// passes do to the numbers, the first tensor that diverges, what a model says of a picture, what a
// target means, and blocks that repeat. The command line's answers are the same.
#include "app/engine/engine.h"
#include "compiler/driver/compile.h"
#include "tests/app/workbench/twin_models.h"
#include "views/models/compare_rows.h"
#include "views/presenters/compare_question.h"
#include "views/presenters/workspace_presenter.h"
#include "views/scene/stage.h"

#include <QFile>
#include <QImage>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace tenon;
using Json = nlohmann::json;

class AnswersTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    core::JobContext m_job{2};

    /// A model as the window opens it.
    struct Opened
    {
        explicit Opened(const app::EngineOptions& options)
            : engine(app::makeEngine(options))
            , workspace(engine, 2)
        {
        }
        views::Engine engine;
        views::WorkspacePresenter workspace;
    };
    std::unique_ptr<Opened> opened(const QString& path) const
    {
        app::EngineOptions options;
        options.cacheFolder = QString::fromStdString(compiler::defaultCacheFolder());
        options.configFolder = m_folder.filePath(QStringLiteral("config"));
        auto made = std::make_unique<Opened>(options);
        made->workspace.open(path);
        const bool isOpen =
            QTest::qWaitFor([&] { return !made->workspace.state().isBusy; }, 300000);
        return isOpen && made->workspace.document() ? std::move(made) : nullptr;
    }
    static void addRows()
    {
        QTest::addColumn<int>("model");
        for (size_t i = 0; i < test::twinModels().size(); ++i)
            QTest::newRow(test::twinModels()[i].name) << static_cast<int>(i);
    }
    QString file() const
    {
        QFETCH(int, model);
        return test::writeModel(test::twinModels()[static_cast<size_t>(model)], m_folder.path());
    }
    /// Six blocks of three operators, without name scopes.
    QString plainBlocks() const
    {
        const std::string type = "Tensor[(1, 4, 8, 8), float32]\n";
        const auto value = [](int i) { return '%' + std::to_string(i); };
        std::string text = "def @main(%x: " + type + ") -> " + type + " {\n";
        std::string last = "%x";
        for (int i = 0; i < 6; ++i) {
            const std::string filter = "%c" + std::to_string(i);
            const std::string conv = value(3 * i), relu = value(3 * i + 1), sum = value(3 * i + 2);
            text += filter + " = rand(" + std::to_string(i) + ") : Tensor[(4, 4, 1, 1), float32]\n";
            text += conv + " = nn.conv2d(" + last + ", " + filter + ") : " + type;
            text += relu + " = nn.relu(" + conv + ") : " + type;
            text += sum + " = add(" + relu + ", " + last + ") : " + type;
            last = sum;
        }
        text += "return " + last + "\n}\n";
        const QString path = m_folder.filePath(QStringLiteral("blocks.txt"));
        QFile out(path);
        if (!out.open(QIODevice::WriteOnly)) return {};
        out.write(text.c_str());
        return path;
    }
    /// Frames of the Inspect page around blocks, against `tenon inspect`; how many there are.
    void verifyStructure(const QString& path, size_t& frames) const
    {
        const auto made = opened(path);
        QVERIFY(made);
        const auto board = std::make_shared<const views::Storyboard>(made->workspace.document());
        const views::Stage stage = views::Stage::forScopes(board, 0, {});
        const Json repeats = test::said({QStringLiteral("inspect"), path})["repeats"];
        frames = 0;
        for (size_t i = 0; i < stage.scopes().size(); ++i) {
            const views::NameScope& scope = stage.scopes()[i];
            if (!scope.isRepeat) continue;
            QVERIFY(frames < repeats.size());
            const Json& repeat = repeats[frames++];
            const int count = repeat["count"].get<int>();
            QCOMPARE(scope.name, QStringLiteral("block ×%1").arg(count));
            QCOMPARE(scope.cardCount, count * repeat["length"].get<int>());
            QCOMPARE(repeat["operators"].size(), repeat["length"].get<size_t>());
            int blocks = 0;
            for (const views::NameScope& inner : stage.scopes())
                blocks += inner.parent == static_cast<int>(i);
            QCOMPARE(blocks, count);
        }
        QCOMPARE(frames, repeats.size());
    }
    QString picture() const
    {
        const QString path = m_folder.filePath(QStringLiteral("picture.png"));
        QImage image(40, 30, QImage::Format_RGB32);
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                image.setPixel(x, y, qRgb(x * 6, y * 8, (x * y) % 256));
        return image.save(path) ? path : QString();
    }
    static void verifyRanking(const std::vector<views::TrialRow>& rows, const Json& outputs)
    {
        size_t at = 0;
        for (const Json& output : outputs) {
            if (!output.contains("examples")) {
                QCOMPARE(rows[at++].title.toStdString(), output["name"].get<std::string>());
                continue;
            }
            for (const Json& example : output["examples"])
                for (const Json& ranked : example["top"]) {
                    QVERIFY(at < rows.size());
                    const views::TrialRow& row = rows[at++];
                    QCOMPARE(row.detail.toLongLong(), ranked["index"].get<qint64>());
                    QCOMPARE(row.value, QString::number(ranked["value"].get<double>(), 'g', 6));
                    QCOMPARE(row.share, ranked["probability"].get<double>());
                }
        }
        QCOMPARE(at, rows.size());
    }
    static bool isSame(double here, const Json& there)
    {
        return there.is_number() ? here == there.get<double>() : !std::isfinite(here);
    }
    static void verifyTensors(const core::Comparison& comparison, const Json& there)
    {
        QCOMPARE(comparison.tensors.size(), there["tensors"].size());
        QVERIFY(comparison.first().has_value());
        QCOMPARE(*comparison.first(), there["first_outside"].get<size_t>());
        QVERIFY(comparison.ranked() == there["ranked"].get<std::vector<size_t>>());
        for (size_t i = 0; i < comparison.tensors.size(); ++i) {
            const core::ComparedTensor& tensor = comparison.tensors[i];
            const Json& said = there["tensors"][i];
            QCOMPARE(tensor.name, said["name"].get<std::string>());
            QCOMPARE(tensor.title.text(), said["kernel"].get<std::string>());
            QVERIFY(tensor.nodes == said["nodes"].get<std::vector<std::string>>());
            QVERIFY(isSame(tensor.cumulative.sqnrDb, said["cumulative"]["sqnr_db"]));
            QVERIFY(isSame(tensor.cumulative.maxAbs, said["cumulative"]["max_abs_error"]));
            QCOMPARE(tensor.cumulative.outside, said["cumulative"]["outside"].get<int64_t>());
            QCOMPARE(tensor.isolated.has_value(), said.contains("isolated"));
        }
    }

private slots:
    void initTestCase()
    {
        QVERIFY(qputenv("XDG_CACHE_HOME", m_folder.path().toLocal8Bit()));
        QVERIFY(test::twinModels().size() >= 20);
    }

    void numbersAreTheSame_data() { addRows(); }
    /// Behind each pass, how far the results are from those of the model as it was read.
    void numbersAreTheSame()
    {
        const QString path = file();
        const auto made = opened(path);
        QVERIFY(made);
        const auto checked =
            made->engine.checkNumbers(made->workspace.document(), made->workspace.options(), m_job);
        QVERIFY2(checked, checked ? "" : checked.error().message.c_str());
        const Json passes = test::said(
            {QStringLiteral("passes"), path, QStringLiteral("--verify-numerics")})["passes"];
        QCOMPARE((*checked)->passes.size(), passes.size());
        int evaluated = 0;
        for (size_t i = 0; i < passes.size(); ++i) {
            const std::optional<double>& error = (*checked)->passes[i].maxAbsError;
            QCOMPARE(error.has_value(), passes[i].contains("max_abs_error"));
            if (error) QCOMPARE(*error, passes[i]["max_abs_error"].get<double>());
            evaluated += error.has_value();
        }
        QVERIFY(evaluated > 0);
        QCOMPARE((*checked)->brokenPass, -1);
    }

    void picturesAreSeenTheSame_data() { addRows(); }
    /// Also where a model takes no pictures: both refuse.
    void picturesAreSeenTheSame()
    {
        const QString path = file();
        const auto made = opened(path);
        QVERIFY(made);
        const views::TrialQuestion question{.file = picture()};
        const auto tried =
            made->engine.trying.run(made->workspace.document(), made->workspace.options(), question,
                                    views::BoardAsk(), m_job);
        const Json there =
            test::said({QStringLiteral("run"), path, QStringLiteral("--image"), question.file,
                        QStringLiteral("--print-top"), QStringLiteral("5")});
        QCOMPARE(static_cast<bool>(tried), there.is_object());
        if (tried) verifyRanking(tried->rows, there["outputs"]);
    }

    void structureIsTheSame_data() { addRows(); }
    void structureIsTheSame()
    {
        size_t frames = 0;
        verifyStructure(file(), frames);
    }
    void structureWithoutScopesIsTheSame()
    {
        size_t frames = 0;
        verifyStructure(plainBlocks(), frames);
        QCOMPARE(frames, size_t{1});
    }

    void firstDivergentTensorIsTheSame_data()
    {
        QTest::addColumn<int>("model");
        for (const int model : {0, 4, 14, 18})
            QTest::newRow(test::twinModels()[static_cast<size_t>(model)].name) << model;
    }
    /// Against a model of the same architecture with other weights.
    void firstDivergentTensorIsTheSame()
    {
        QFETCH(int, model);
        const QString path = file();
        test::TwinModel other = test::twinModels()[static_cast<size_t>(model)];
        ++other.options.seed;
        const auto made = opened(path);
        QVERIFY(made);
        views::CompareQuestion question;
        question.model = path;
        question.options = made->workspace.options();
        question.reference = test::writeModel(other, m_folder.path());
        const auto compared = made->engine.comparing.run(question, views::BoardAsk(), m_job);
        QVERIFY2(compared, compared ? "" : compared.error().message.c_str());
        verifyTensors(*compared->comparison,
                      test::said({QStringLiteral("compare"), path, QStringLiteral("--reference"),
                                  question.reference}));
        const auto rows = views::compareRows(*compared->comparison, *made->workspace.document());
        QCOMPARE(rows.size(), compared->comparison->tensors.size());
    }

    void targetsMeanTheSame()
    {
        const views::Engine engine = app::makeEngine({});
        for (const char* target :
             {"llvm -mcpu=native", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72",
              "c -mcpu=cortex-m4", "raspberry-pi/4b-aarch64", "llvm -mcpu=haswell -num-cores=4",
              "llvm -mcpu=pentium9", "quux"}) {
            const views::TargetVerdict here = engine.checkTarget(QString::fromLatin1(target));
            const Json there = test::said({QStringLiteral("targets"), QStringLiteral("--explain"),
                                           QString::fromLatin1(target)});
            QCOMPARE(here.isValid, there.is_object());
            if (!here.isValid) continue;
            QCOMPARE(here.canonical.toStdString(), there["target"].get<std::string>());
            std::vector<std::string> lines;
            for (const QString& line : here.explanation) lines.push_back(line.toStdString());
            std::vector<std::string> said = there["explain"];
            said.push_back(there["threads"]);
            QVERIFY2(lines == said, target);
        }
    }
};

QTEST_GUILESS_MAIN(AnswersTest)
#include "answers_test.moc"
